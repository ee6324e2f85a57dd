/** A button in every block of code. */
export function copyButtons(): void {
  for (const head of document.querySelectorAll('.code-head')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    // Of several languages, the one that is shown.
    const shown = () => head.parentElement?.querySelector('pre:not([hidden]) code')?.textContent;
    copyOnClick(button, () => shown() ?? '');
    head.append(button);
  }
}

export function copyOnClick(button: HTMLElement, text: () => string): void {
  const label = button.textContent;
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(text()).then(() => {
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = label;
      }, 2000);
    });
  });
}
