// What links in answers lead to. The contract's examples name a sandbox that is not there, so the mock puts its own address
// in its place, and has a drawing for each card scheme and a page for each approval.
import type { Express } from 'express';
import type { Document } from '../../server/contract/load.ts';
import { visitOf } from './context.ts';

interface Server {
  url: string;
  variables?: Record<string, { default: string }>;
}

export function rebase(document: Document, body: unknown, address: string): unknown {
  const [first] = (document as Document & { servers?: Server[] }).servers ?? [];
  if (!first) return body;
  const origin = first.url.replace(/\{(\w+)\}/g, (_, name: string) => first.variables?.[name]?.default ?? '');
  const text = JSON.stringify(body);
  if (!text.includes(origin)) return body;
  return JSON.parse(text.replaceAll(`"${origin}/`, `"${address}/`)) as unknown;
}

const badge = /^\/assets\/card-schemes\/([a-z-]+)\.svg$/;
const approval = /^\/sandbox\/approvals\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// On the app itself and without `:names`: a router would answer OPTIONS in its own way, and a name that cannot be decoded.
export function servePages(app: Express): void {
  app.get('/healthz', (_req, res) => {
    visitOf(res).why = 'the mock is up';
    res.json({ status: 'ok' });
  });

  app.get('/readyz', (_req, res) => {
    visitOf(res).why = 'the mock is up';
    res.json({ status: 'ready' });
  });

  app.get('/openapi.json', (_req, res) => {
    visitOf(res).why = 'the contract';
    res.json(visitOf(res).reading.document);
  });

  app.get(badge, (req, res, next) => {
    const scheme = String(req.params[0]);
    const known = visitOf(res).reading.document.components.schemas?.CardScheme as
      { enum?: string[] } | undefined;
    if (!known?.enum?.includes(scheme)) {
      next();
      return;
    }
    visitOf(res).why = 'a drawing for a card scheme';
    res.type('image/svg+xml').send(drawing(scheme));
  });

  app.get(approval, (req, res) => {
    visitOf(res).why = 'the approval page; the mock keeps no state, so nothing moves';
    const back = new URL(req.url, 'http://mock').searchParams.get('redirect_url');
    const link =
      back !== null && /^https?:\/\//.test(back)
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

const drawing = (scheme: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="60" viewBox="0 0 96 60" role="img" aria-label="${scheme}">
<rect x="1" y="1" width="94" height="58" rx="8" fill="#f7f8fa" stroke="#9aa3af" stroke-width="2"/>
<text x="48" y="34" text-anchor="middle" font-family="system-ui, sans-serif" font-size="11" fill="#1f2937">${scheme}</text>
</svg>
`;

const escape = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
