/** Of several languages, the one that is shown. */
export function copyButtons(): void {
  for (const button of document.querySelectorAll<HTMLElement>('.copy'))
    copyOnClick(
      button,
      () => button.closest('.code')?.querySelector('pre:not([hidden]) code')?.textContent ?? '',
    );
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
