// The pages and images that response bodies of payments link to: a badge for each card scheme, and an approval page. Routes as in pages.ts.
import type { Express } from 'express';
import { knowing, type Pipeline } from '../../server/kit/http/pipeline.ts';
import { uuidSource } from '../../server/kit/rules/values.ts';
import { drawBadge } from '../../server/resources/card-schemes/badges.ts';
import { schemeNames, badgePath, type CardScheme } from '../../server/resources/card-schemes/rules.ts';
import { approvalPath } from '../../server/resources/payment-methods/rules.ts';
import { trailOf, type Loaded } from './known.ts';

const badgePattern = new RegExp(`^${badgePath('([a-z-]+)')}$`);
// As in the contract.
const longestRedirect = 2000;
const approvalPattern = new RegExp(`^${approvalPath(uuidSource)}$`);

export function serveCardPages(app: Express, arrived: Pipeline<Loaded>): void {
  const showBadge = knowing(arrived, ({ contract }, req, res, next) => {
    const scheme = String(req.params[0]);
    const { CardScheme } = (contract.document.components.schemas ?? {}) as {
      CardScheme?: { enum?: string[] };
    };
    if (!CardScheme?.enum?.includes(scheme)) {
      next();
      return;
    }
    trailOf(res).why = 'the badge of a card scheme';
    res
      .type('image/svg+xml')
      .send(drawBadge(Object.hasOwn(schemeNames, scheme) ? schemeNames[scheme as CardScheme] : scheme));
  });
  app.get(badgePattern, showBadge);

  app.get(approvalPattern, (req, res) => {
    trailOf(res).why = 'the approval page; the mock keeps no state, so nothing changes';
    const back = new URL(req.url, 'http://mock').searchParams.get('redirect_url');
    const link =
      back !== null && back.length <= longestRedirect && /^https?:\/\//.test(back)
        ? `<p><a href="${escape(back)}">Back to the shop</a></p>`
        : '';
    res
      .set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
      .type('html')
      .send(
        `<!doctype html><html lang="en"><title>Approve</title><h1>Approve this card</h1><p>Here the buyer approves or declines. The mock keeps no state, so nothing changes.</p>${link}</html>`,
      );
  });
}

const escape = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
