// The sandbox's page on which a buyer approves or declines a card: a form with two buttons, without JavaScript. Unknown IDs are
// passed on, so they get the same 404 as any unknown path.
import { createHash } from 'node:crypto';
import express, { type Express, type Request, type RequestHandler } from 'express';
import type { Db } from '../database/database.ts';
import type { InUnitOfWork } from '../database/unit-of-work.ts';
import { ApiError } from '../errors.ts';
import { schemeNames, type CardScheme } from '../resources/card-schemes/rules.ts';
import { movePaymentMethod } from '../resources/payment-methods/changes.ts';
import { findPaymentMethodOfAnyAccount } from '../resources/payment-methods/queries.ts';
import { approvalPath } from '../resources/payment-methods/rules.ts';
import { IllegalMove } from '../rules/state-machine.ts';
import { uuidSource } from '../rules/uuid.ts';
import { contextOf } from './step.ts';

// A pattern instead of `:id`: Express would decode that, and answer `%zz` with its own error page.
export const approvalPattern = new RegExp(`^${approvalPath(`(${uuidSource})`)}$`);
// Browsers apply `form-action` to every redirect that follows the form, and a shop may redirect further: so it names schemes.
const policyFor = (redirectUrl: string | null): string =>
  [
    `${approvalSources}; frame-ancestors 'none'; base-uri 'none'`,
    `form-action 'self'${redirectUrl ? ' https:' : ''}${redirectUrl?.startsWith('http:') ? ' http:' : ''}`,
  ].join('; ');

const parse = express.urlencoded({ extended: false, limit: 1024 });

// A form that cannot be parsed is a 400, not a server error.
const form: RequestHandler = (req, res, next) => {
  parse(req, res, (cause?: unknown) => {
    next(
      cause === undefined
        ? undefined
        : new ApiError('bad_request', { reason: 'the approval form cannot be parsed', cause }),
    );
  });
};

// The routes are on the app itself, because an Express router would answer OPTIONS requests.
export function serveApprovals(app: Express, unitsOn: (db: Db) => InUnitOfWork): void {
  app.get(approvalPattern, async (req, res, next) => {
    const method = await findPaymentMethodOfAnyAccount(contextOf(res).db, idOf(req));
    if (!method) {
      next();
      return;
    }
    res.set('Content-Security-Policy', policyFor(method.redirect_url)).type('html');
    res.send(method.status === 'buyer_approval_required' ? approvalPage(method) : decidedPage(method));
  });
  app.post(approvalPattern, form, async (req, res, next) => {
    const decision = (req.body as { decision?: unknown } | undefined)?.decision;
    const method = await findPaymentMethodOfAnyAccount(contextOf(res).db, idOf(req));
    if (!method || (decision !== 'approve' && decision !== 'decline')) {
      next();
      return;
    }
    const status = decision === 'approve' ? 'succeeded' : 'failed';
    const inUnitOfWork = unitsOn(contextOf(res).db);
    const decided = await inUnitOfWork((unit) =>
      movePaymentMethod(unit, method.id, status, { onlyFrom: 'buyer_approval_required' }),
    ).catch((error: unknown) => {
      if (error instanceof IllegalMove) return undefined;
      throw error;
    });
    if (decided && method.redirect_url) {
      res.redirect(303, method.redirect_url);
      return;
    }
    // It never waited for approval, or this is a second click.
    const shown = decided ?? (await findPaymentMethodOfAnyAccount(contextOf(res).db, method.id)) ?? method;
    res
      .status(decided ? 200 : 409)
      .set('Content-Security-Policy', policyFor(null))
      .type('html')
      .send(decidedPage(shown));
  });
}

const idOf = (req: Request): string => String(req.params[0]);

const escape = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

// The colours of the docs and of the sandbox's other pages: scripts/docs/style.css.
const style = `
:root { --ground: #fff; --raised: #f5f8f8; --line: #d5dedf; --text: #1b2426; --faint: #536062; --accent: #0b6e75; --on-accent: #fff; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
:root { --ground: #14191b; --raised: #1c2326; --line: #344044; --text: #e6ecec; --faint: #a3b1b3; --accent: #6cc4c9; --on-accent: #0d2a2c; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--raised); margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { background: var(--ground); border: 1px solid var(--line); border-radius: 12px; padding: 2rem; box-sizing: border-box; width: min(28rem, calc(100vw - 2rem)); }
img { display: block; margin-bottom: 1rem; }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
p { margin: 0 0 1.5rem; }
button { font: inherit; padding: .6rem 1.2rem; border-radius: 8px; border: 1px solid var(--accent); margin-right: .5rem; cursor: pointer; background: var(--ground); color: var(--accent); }
button[value=approve] { background: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
small { color: var(--faint); }
`;

const logo =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b6e75"/><rect x="6" y="9.5" width="20" height="14" rx="2.5" fill="none" stroke="#fff" stroke-width="2"/><path d="M6 14.5h20" stroke="#fff" stroke-width="2.5"/></svg>',
  );

/** What the page may load: its own style, and images that are part of it. */
const approvalSources = `default-src 'none'; img-src data:; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`;

const page = (title: string, content: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${logo}">
<style>${style}</style>
</head>
<body><main><img src="${logo}" alt="" width="32" height="32">${content}<small>Sandbox: no money is moved.</small></main></body>
</html>
`;

const nameOf = (scheme: string | null): string =>
  scheme && scheme !== 'other' && Object.hasOwn(schemeNames, scheme) ? schemeNames[scheme as CardScheme] : '';

const approvalPage = (card: { scheme: string | null; label: string | null }): string =>
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

const decidedPage = (card: { status: string; redirect_url: string | null }): string => {
  const next = card.redirect_url
    ? `<a href="${escape(card.redirect_url)}">Back to the shop</a>`
    : 'You can close this page.';
  return page('Done', `<h1>${decisions[card.status] ?? 'Your card is not stored'}</h1><p>${next}</p>`);
};
