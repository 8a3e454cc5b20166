// Shows the buttons that need a script: copy and print. They are hidden until then, so no button does nothing.

for (const button of document.querySelectorAll('button[data-action]')) {
  const { action, text } = button.dataset;
  if (action === 'copy' && !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    if (action === 'print') return window.print();
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      // The browser refused access to the clipboard. The button keeps its text.
    }
  });
}
