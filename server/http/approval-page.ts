// The sandbox page on which a buyer approves or declines a card: a form with two buttons, without JavaScript.
import { schemeNames, type CardScheme } from '../domain/card-schemes.ts';

const escape = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

const page = (title: string, content: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2937; background: #f3f5f7; margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { background: #fff; border: 1px solid #d5dae1; border-radius: 12px; padding: 2rem; box-sizing: border-box; width: min(28rem, calc(100vw - 2rem)); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
p { margin: 0 0 1.5rem; }
button { font: inherit; padding: .6rem 1.2rem; border-radius: 8px; border: 1px solid #0b6b6b; margin-right: .5rem; cursor: pointer; }
button[value=approve] { background: #0b6b6b; color: #fff; }
button[value=decline] { background: #fff; color: #0b6b6b; }
small { color: #4b5563; }
</style>
</head>
<body><main>${content}<small>Sandbox: no money is moved.</small></main></body>
</html>
`;

const nameOf = (scheme: string | null): string =>
  scheme && scheme !== 'other' && Object.hasOwn(schemeNames, scheme) ? schemeNames[scheme as CardScheme] : '';

export const approvalPage = (card: { scheme: string | null; label: string | null }): string =>
  page(
    'Approve your card',
    `<h1>Approve your card</h1>
<p>Do you want to store your ${escape(nameOf(card.scheme))} card that ends in <strong>${escape(card.label ?? '')}</strong>?</p>
<form method="post"><p><button name="decision" value="approve">Approve</button><button name="decision" value="decline">Decline</button></p></form>`,
  );

const decisions: Record<string, string> = {
  succeeded: 'Your card is stored',
  // After `payments payment-methods move`.
  processing: 'Your card is being processed',
};

export const decidedPage = (status: string): string =>
  page('Done', `<h1>${decisions[status] ?? 'Your card is not stored'}</h1><p>You can close this page.</p>`);
