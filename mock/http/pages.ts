// The pages beside the operations: health, the contract, the docs if they are built, and what response bodies link to. The contract's
// examples link to a sandbox host, so the mock replaces that host with its own URL.
import type { Express } from 'express';
import type { Document } from '../../server/kit/contract/load.ts';
import { knowing, type Pipeline } from '../../server/kit/http/pipeline.ts';
import { serveDocs, withOwnServer } from '../../server/kit/http/static.ts';
import { serveOwnPages } from '../domain.ts';
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

// Routes are on the app and use regular expressions: an Express router would handle OPTIONS itself, and `:name` parameters
// fail on malformed percent-encoding.
export function servePages(
  app: Express,
  arrived: Pipeline<Loaded>,
  siteDir: string,
  { hasConsole, address }: PagesOptions,
): void {
  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });

  app.get('/readyz', (_req, res) => {
    res.json({ status: 'ready' });
  });

  const showContract = knowing(arrived, ({ contract: { published } }, _req, res) => {
    res.json(hasConsole ? withOwnServer(published, address()) : published);
  });
  app.get('/openapi.json', showContract);

  serveOwnPages(app, arrived);
  serveSite(app, siteDir, hasConsole);
}

function serveSite(app: Express, siteDir: string, hasConsole: boolean): void {
  app.use(['/docs', '/openapi.yaml', '/client.tgz', '/mock.tgz', '/llms.txt'], (_req, res, next) => {
    trailOf(res).why = 'the docs';
    next();
  });
  serveDocs(app, siteDir, { kind: 'mock', hasConsole });
}
