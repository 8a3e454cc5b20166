// Shows the buttons that need a script: copy, share and print. Pages hide them, so nobody without a script misses one.

/** What the button does here; `undefined` where the browser can not do it. */
function workOf(button) {
  switch (button.dataset.action) {
    case 'copy':
      return navigator.clipboard && (() => navigator.clipboard.writeText(button.dataset.text));
    case 'share':
      return navigator.share && (() => navigator.share({ title: document.title, url: location.href }));
    case 'print':
      return () => window.print();
    default:
      return undefined;
  }
}

for (const button of document.querySelectorAll('button[data-action]')) {
  const work = workOf(button);
  if (!work) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await work();
      if (button.dataset.done) button.textContent = button.dataset.done;
    } catch {
      // The visitor has closed the dialog, or does not allow it: nothing has happened.
    }
  });
}
