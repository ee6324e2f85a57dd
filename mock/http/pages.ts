// The pages and images that response bodies link to. The contract's examples link to a sandbox host, so the mock replaces
// that host with its own URL and serves a badge for each card scheme and an approval page. It also serves the docs, if they
// are built.
import type { Express } from 'express';
import type { Document } from '../../server/kit/contract/load.ts';
import { knowing, type Pipeline } from '../../server/kit/http/pipeline.ts';
import { serveDocs, withOwnServer } from '../../server/kit/http/static.ts';
import { uuidSource } from '../../server/kit/rules/values.ts';
import { drawBadge } from '../../server/resources/card-schemes/badges.ts';
import { schemeNames, badgePath, type CardScheme } from '../../server/resources/card-schemes/rules.ts';
import { approvalPath } from '../../server/resources/payment-methods/rules.ts';
import { trailOf, type Loaded } from './known.ts';

interface PagesOptions {
  hasConsole: boolean;
  /** The mock's own URL. */
  address: () => string;
}

interface Server {
  url: string;
  variables?: Record<string, { default: string }>;
}

export function rebaseUrls(document: Document, text: string, address: string): string {
  const [first] = (document as Document & { servers?: Server[] }).servers ?? [];
  if (!first) return text;
  const origin = first.url.replace(/\{(\w+)\}/g, (_, name: string) => first.variables?.[name]?.default ?? '');
  return text.replaceAll(`"${origin}/`, `"${address}/`);
}

const badgePattern = new RegExp(`^${badgePath('([a-z-]+)')}$`);
// As in the contract.
const longestRedirect = 2000;
const approvalPattern = new RegExp(`^${approvalPath(uuidSource)}$`);

// Routes are on the app and use regular expressions: an Express router would handle OPTIONS itself, and `:name` parameters
// fail on malformed percent-encoding.
export function servePages(
  app: Express,
  arrived: Pipeline<Loaded>,
  siteDir: string,
  { hasConsole, address }: PagesOptions,
): void {
  app.get('/healthz', (_req, res) => {
    trailOf(res).why = 'the mock is up';
    res.json({ status: 'ok' });
  });

  app.get('/readyz', (_req, res) => {
    trailOf(res).why = 'the mock is up';
    res.json({ status: 'ready' });
  });

  const showContract = knowing(arrived, ({ contract: { published } }, _req, res) => {
    trailOf(res).why = 'the contract';
    res.json(hasConsole ? withOwnServer(published, address()) : published);
  });
  app.get('/openapi.json', showContract);

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

  serveSite(app, siteDir, hasConsole);
}

function serveSite(app: Express, siteDir: string, hasConsole: boolean): void {
  app.use(['/docs', '/openapi.yaml', '/client.tgz', '/mock.tgz', '/llms.txt'], (_req, res, next) => {
    trailOf(res).why = 'the docs';
    next();
  });
  serveDocs(app, siteDir, { kind: 'mock', hasConsole });
}

const escape = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
