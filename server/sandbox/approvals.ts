// The sandbox's page on which a buyer approves or declines a card: a form with two buttons, without JavaScript. `npm run docs`
// builds the page around it. Unknown IDs are passed on, so they get the same 404 as any unknown path.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Express, Request, Response } from 'express';
import type { Db } from '../kit/database/database.ts';
import type { InUnitOfWork } from '../kit/database/unit-of-work.ts';
import { receive } from '../kit/http/body.ts';
import type { Arrived } from '../kit/http/known.ts';
import { knowing, type Pipeline } from '../kit/http/pipeline.ts';
import { uuidSource } from '../kit/rules/values.ts';
import { schemeNames, type CardScheme } from '../resources/card-schemes/rules.ts';
import { findPaymentMethodOfAnyAccount } from '../resources/payment-methods/any-account.ts';
import { movePaymentMethod } from '../resources/payment-methods/changes.ts';
import { type PaymentMethodRow } from '../resources/payment-methods/queries.ts';
import { approvalPath } from '../resources/payment-methods/rules.ts';

// A pattern instead of `:id`: Express would decode that, and answer `%zz` with its own error page.
const approvalPattern = new RegExp(`^${approvalPath(`(${uuidSource})`)}$`);

// Browsers apply `form-action` to every redirect that follows the form, and a shop may redirect further: so it names schemes.
const policyFor = (redirectUrl: string | null): string =>
  `frame-ancestors 'none'; form-action 'self'${redirectUrl ? ' https:' : ''}${redirectUrl?.startsWith('http:') ? ' http:' : ''}`;

const longestForm = 1024;

// The routes are on the app itself, because an Express router would answer OPTIONS requests.
interface ApprovalDeps {
  pagesDir: string;
  unitsOn: (db: Db) => InUnitOfWork;
}

export function serveApprovals(
  app: Express,
  arrived: Pipeline<Pick<Arrived, 'unownedDb'>>,
  { pagesDir, unitsOn }: ApprovalDeps,
): void {
  const file = join(pagesDir, 'approval.html');
  const send = (res: Response, content: string, redirectUrl: string | null) => {
    // Until the pages are built there is no style.
    const frame = existsSync(file) ? readFileSync(file, 'utf8') : '{{content}}';
    res.set('Content-Security-Policy', policyFor(redirectUrl)).type('html');
    res.send(frame.replace('{{content}}', () => content));
  };
  const show = knowing(arrived, async ({ unownedDb: db }, req, res, next) => {
    const card = await findPaymentMethodOfAnyAccount(db, idOf(req));
    if (!card) next();
    else if (card.status === 'buyer_approval_required') send(res, question(card), card.redirect_url);
    else send(res, decided(card), null);
  });
  const decide = knowing(arrived, async ({ unownedDb: db }, req, res, next) => {
    const decision = new URLSearchParams(String(await receive(req, longestForm))).get('decision');
    const card = await findPaymentMethodOfAnyAccount(db, idOf(req));
    if (!card || (decision !== 'approve' && decision !== 'decline')) {
      next();
      return;
    }
    const status = decision === 'approve' ? 'succeeded' : 'failed';
    const result = await unitsOn(db)((unit) =>
      movePaymentMethod(unit, card.id, status, { onlyFrom: 'buyer_approval_required' }),
    );
    const moved = result?.kind === 'moved' ? result.row : undefined;
    if (moved && card.redirect_url) {
      res.redirect(303, card.redirect_url);
      return;
    }
    // It never waited for approval, or this is a second click.
    const shown = moved ?? (await findPaymentMethodOfAnyAccount(db, card.id)) ?? card;
    send(res.status(moved ? 200 : 409), decided(shown), null);
  });
  app.get(approvalPattern, show);
  app.post(approvalPattern, decide);
}

const idOf = (req: Request): string => String(req.params[0]);

const escape = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

const nameOf = (scheme: string | null): string =>
  scheme && scheme !== 'other' && Object.hasOwn(schemeNames, scheme) ? schemeNames[scheme as CardScheme] : '';

const question = ({ scheme, label }: PaymentMethodRow): string =>
  `<h1>Approve your card</h1>
<p>Do you want to store your ${escape(nameOf(scheme))} card that ends in <strong>${escape(label ?? '')}</strong>?</p>
<form method="post"><p><button name="decision" value="approve">Approve</button><button name="decision" value="decline">Decline</button></p></form>`;

const decisions: Record<string, string> = {
  succeeded: 'Your card is stored',
  // After `payments payment-methods move`.
  processing: 'Your card is being processed',
};

const decided = ({ status, redirect_url }: PaymentMethodRow): string => {
  const next = redirect_url
    ? `<a href="${escape(redirect_url)}">Back to the shop</a>`
    : 'You can close this page.';
  return `<h1>${decisions[status] ?? 'Your card is not stored'}</h1><p>${next}</p>`;
};
