// What is served beside the API: docs, contract, badges, health. None of it needs a token or tells anything secret.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express } from 'express';
import type { Document } from '../contract/load.ts';
import { badge, badgePath, schemeNames } from '../domain/card-schemes.ts';

export interface StaticDeps {
  document: Document;
  /** Where `npm run docs` or the start put the site; undefined when it was not built. */
  siteDir: string;
  isReady: () => Promise<boolean>;
}

export function serveStatic(app: Express, { document, siteDir, isReady }: StaticDeps): void {
  const contract = JSON.stringify(document);
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', async (_req, res) => {
    const ready = await isReady();
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
  });
  app.get('/openapi.json', (_req, res) => void res.type('application/json').send(contract));
  for (const [scheme, name] of Object.entries(schemeNames)) {
    const drawing = badge(name);
    app.get(
      badgePath(scheme),
      (_req, res) =>
        void res.type('image/svg+xml').set('Cache-Control', 'public, max-age=86400').send(drawing),
    );
  }
  const page = join(siteDir, 'index.html');
  app.get('/docs', (_req, res, next) => {
    if (existsSync(page)) res.sendFile(page);
    else next();
  });
  app.use('/docs', express.static(siteDir, { redirect: false }));
}
