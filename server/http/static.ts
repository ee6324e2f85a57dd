// Serves the docs, the contract, badges and health checks. They are public and need no token.
import type { Express } from 'express';
import type { Document } from '../contract/load.ts';
import { serveBadges } from './badges.ts';
import { partialContextOf } from './context.ts';
import { serveDocs, withOwnServer } from './docs.ts';

export interface StaticDeps {
  document: Document;
  /** The site that `npm run docs` or the first start built. */
  siteDir: string;
  hasConsole: boolean;
  /** The URL of a sandbox with a console. */
  ownUrl: (() => string) | undefined;
  /** Why this instance should get no requests now; undefined when it should. */
  findUnready: () => Promise<string | undefined>;
}

export function serveStatic(app: Express, deps: StaticDeps): void {
  const { document, siteDir, hasConsole, ownUrl, findUnready } = deps;
  let contract: Buffer | undefined;
  // One buffer for all answers, so that clients that do not read theirs share it. Not before the first request: until then
  // a sandbox with port 0 does not know its URL.
  const readContract = () => {
    contract ??= Buffer.from(JSON.stringify(ownUrl ? withOwnServer(document, ownUrl()) : document));
    return contract;
  };
  // Not the database: an orchestrator restarts an instance that is not healthy, and that does not bring a database back.
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', async (_req, res) => {
    const reason = await findUnready();
    if (reason === undefined) res.json({ status: 'ready' });
    else {
      partialContextOf(res).unready = reason;
      res.status(503).json({ status: 'not ready', reason });
    }
  });
  app.get('/openapi.json', (_req, res) => void res.type('application/json').send(readContract()));
  serveBadges(app);
  serveDocs(app, siteDir, { hasConsole });
}
