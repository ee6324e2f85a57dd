// Names for what Scalar leaves without one: fields, switches and buttons with an icon only. Scalar draws parts again at any time,
// so each change is looked at once more.

/** The table of parameters that a field stands in has a row for each, whose ID is the name of the parameter. */
const parameterOf = (element: Element) => element.closest('tr')?.id || 'further parameter';

const nameless = ':not([aria-label], [aria-labelledby], [title])';

const names: [selector: string, name: (element: Element) => string][] = [
  [`tr input[type='checkbox']${nameless}`, (field) => `Send ${parameterOf(field)}`],
  [`input[type='checkbox']${nameless}`, () => 'On'],
  [`td:nth-child(2) [role='textbox']${nameless}`, (field) => `Name of ${parameterOf(field)}`],
  [
    `[role='textbox']${nameless}`,
    (field) => (field.closest('tr') ? `Value of ${parameterOf(field)}` : 'Text'),
  ],
  [`td button${nameless}`, (button) => button.textContent.trim() || `Choose ${parameterOf(button)}`],
  [`.scalar-code-copy${nameless}`, () => 'Copy'],
];

export function nameFields(): void {
  const name = () => {
    for (const [selector, nameOf] of names)
      for (const element of document.querySelectorAll(`:is(#console, .scalar-client) ${selector}`))
        element.setAttribute('aria-label', nameOf(element));
    // Scalar gives some buttons the role `none`, so a screen reader would not say that they are buttons.
    for (const button of document.querySelectorAll('.scalar-client button[role=none]'))
      button.removeAttribute('role');
    // A button has no such state. Where the reader is, is said otherwise.
    for (const button of document.querySelectorAll('button[aria-selected]:not([role])')) {
      if (button.ariaSelected === 'true') button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
      button.removeAttribute('aria-selected');
    }
  };
  const attributeFilter = ['aria-selected', 'aria-label', 'role'];
  new MutationObserver(name).observe(document.body, { subtree: true, childList: true, attributeFilter });
}
