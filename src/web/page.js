// Shows the buttons that need a script: copy and print. Pages hide them, so nobody without a script misses one.

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
      // The visitor does not allow it: nothing has happened.
    }
  });
}
