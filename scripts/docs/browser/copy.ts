/** A button in every block of code. */
export function copyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    copyOnClick(button, () => block.querySelector('code')?.textContent ?? '');
    block.append(button);
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
