// Serves the docs, and other pages that were built before the start: compressed as they were built, and cached.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express, type RequestHandler } from 'express';

/** The mock serves them too. With a console, each operation has a link to it. */
export function serveDocs(app: Express, siteDir: string, { hasConsole }: { hasConsole: boolean }): void {
  // The relative links of the pages need the trailing slash.
  app.get('/docs', (_req, res) => {
    res.redirect(308, 'docs/');
  });
  if (hasConsole)
    app.get('/docs/here.js', (_req, res) => {
      res.setHeader('Cache-Control', 'no-cache');
      res.type('js').send("document.documentElement.dataset.console = '';\n");
    });
  app.use('/docs', (_req, res, next) => {
    res.setHeader('Content-Security-Policy', "frame-ancestors 'none'");
    next();
  });
  app.use('/docs', ...serveBuilt(siteDir));
}

const endings: Record<string, string> = { br: '.br', gzip: '.gz' };

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// Only names that the build gives.
const builtName = /^(\/[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*)+$/i;

/** A folder that scripts/docs/files.ts wrote: each file is there also compressed, and those in assets/ never change. */
export function serveBuilt(folder: string): RequestHandler[] {
  const chooseFile: RequestHandler = (req, res, next) => {
    const path = req.path.endsWith('/') ? `${req.path}index.html` : req.path;
    const type = types[/\.[a-z]+$/.exec(path)?.[0] ?? ''];
    if (!type || !builtName.test(path) || !existsSync(join(folder, path))) {
      next();
      return;
    }
    const isKept = path.startsWith('/assets/');
    res.setHeader('Cache-Control', isKept ? 'public, max-age=31536000, immutable' : 'no-cache');
    res.setHeader('Vary', 'Accept-Encoding');
    res.type(type);
    const encoding = req.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
    const file = path + (endings[encoding] ?? '');
    if (encoding !== 'identity' && existsSync(join(folder, file))) {
      res.setHeader('Content-Encoding', encoding);
      req.url = file;
    }
    next();
  };
  return [chooseFile, express.static(folder, { redirect: false, cacheControl: false })];
}
