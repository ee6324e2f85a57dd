// Serves the docs and the contract. They are public and need no token.
import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import express, { type Express, type Request, type RequestHandler } from 'express';
import { publish, type Document } from '../contract/load.ts';

interface StaticDeps {
  document: Document;
  /** The site that `npm run docs` or the first start built. */
  siteDir: string;
  isSandbox: boolean;
  hasConsole: boolean;
  /** The URL of a sandbox, unless it listens on an address that is no name of it, such as 0.0.0.0. */
  ownUrl: (() => string) | undefined;
}

export function serveStatic(app: Express, deps: StaticDeps): void {
  const { document, siteDir, isSandbox, hasConsole, ownUrl } = deps;
  const published = publish(document);
  let contract: Buffer | undefined;
  // One buffer for all answers, so that clients that do not read theirs share it. Not before the first request: until then
  // a sandbox with port 0 does not know its URL.
  const readContract = () => {
    contract ??= Buffer.from(JSON.stringify(ownUrl ? withOwnServer(published, ownUrl()) : published));
    return contract;
  };
  app.get('/openapi.json', (_req, res) => void res.type('application/json').send(readContract()));
  serveDocs(app, siteDir, { kind: isSandbox ? 'sandbox' : 'production', hasConsole });
}

interface DocsOptions {
  /**
   * In a sandbox or a mock, examples name the server that the page comes from, and pages of a mock say that any token will do.
   * Test cards are not for production: there, examples keep naming a sandbox on the reader's machine.
   */
  kind: 'sandbox' | 'mock' | 'production';
  hasConsole: boolean;
}

export function serveDocs(app: Express, siteDir: string, { kind, hasConsole }: DocsOptions): void {
  // The relative links of the pages need the trailing slash.
  app.get('/docs', (_req, res) => {
    res.redirect(308, 'docs/');
  });
  if (kind !== 'production')
    app.get('/docs/here.js', (_req, res) => {
      const facts = { kind, ...(hasConsole ? { console: '' } : {}) };
      res.setHeader('Cache-Control', 'no-cache');
      res.type('js').send(`Object.assign(document.documentElement.dataset, ${JSON.stringify(facts)});\n`);
    });
  // For `curl -OJ`: npm takes a newer file of the same name for the one that it knows.
  app.get(['/client.tgz', '/mock.tgz'], (req, res, next) => {
    const file = join(siteDir, 'archives.json');
    const names = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
    const name = names[basename(req.path)];
    if (name !== undefined && existsSync(join(siteDir, basename(req.path)))) res.attachment(name);
    next();
  });
  // Programs look for these at the root.
  app.get(['/openapi.yaml', '/client.tgz', '/mock.tgz', '/llms.txt', '/llms-full.txt'], (req, _res, next) => {
    req.url = `/docs${req.path}`;
    next();
  });
  app.use('/docs', (_req, res, next) => {
    res.setHeader('Content-Security-Policy', "frame-ancestors 'none'");
    next();
  });
  app.use('/docs', serveBuilt(siteDir), sayBuilding(siteDir, 'digest.txt'), findPage(siteDir));
}

/** The contract. The server that it comes from is the first in its list, because tools call the first one. */
export const withOwnServer = (contract: Pick<Document, 'servers'>, url: string): object => {
  const others = (contract.servers ?? []).filter((one) => one.url !== url);
  return { ...contract, servers: [{ url, description: 'This server' }, ...others] };
};

/**
 * While `npm start` builds a folder beside the service: a page that loads itself again. `last` is what a build writes last.
 * A package that has no such folder does not build one.
 */
export const sayBuilding =
  (folder: string, last: string): RequestHandler =>
  (req, res, next) => {
    if (req.method !== 'GET' || !existsSync(folder) || existsSync(join(folder, last))) {
      next();
      return;
    }
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Retry-After', '1');
    res.setHeader('Refresh', '1');
    res.status(503).type('html').send(buildingPage);
  };

const buildingPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Building</title><h1>This page is being built</h1>
<p>The service runs already. Docs, console and landing page take some seconds after a change; this page then shows them by itself.</p>
<p>If it does not, the terminal says why. To build them by hand: <code>npm run docs</code></p></html>
`;

/** For an address that has no file: the page whose ending was left out, or for people a page with menu and search. */
const findPage =
  (siteDir: string): RequestHandler =>
  (req, res, next) => {
    const notFound = join(siteDir, '404.html');
    if (req.method !== 'GET' && req.method !== 'HEAD') next();
    // The overview lists them.
    else if (req.path === '/guides/') res.redirect(308, '../');
    else if (builtName.test(req.path) && existsSync(join(siteDir, `${req.path}.html`)))
      res.redirect(308, `${basename(req.path)}.html`);
    else if (/\btext\/html\b/.test(req.headers.accept ?? '') && existsSync(notFound)) {
      res.setHeader('Cache-Control', 'no-cache');
      res.setHeader('Vary', 'Accept');
      res.status(404).type('html').send(readFileSync(notFound, 'utf8'));
    } else next();
  };

const endings: Record<string, string> = { br: '.br', gzip: '.gz' };

/** Where Express has another type (RFC 9512), or none. */
const types: Record<string, string> = {
  '.yaml': 'application/yaml; charset=utf-8',
  '.tgz': 'application/gzip',
};

// Only names that the build gives.
const builtName = /^(\/[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*)+$/i;

/** No browser sends more. A list of 30,000 encodings takes 35 ms to read. */
const longestAcceptEncoding = 500;

function chooseEncoding(req: Request): string {
  if ((req.headers['accept-encoding']?.length ?? 0) > longestAcceptEncoding) return 'identity';
  return req.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
}

/** A folder that scripts/docs/files.ts wrote: each file is there also compressed, and those in assets/ never change. */
export function serveBuilt(folder: string): RequestHandler {
  const sendFile = express.static(folder, { redirect: false, cacheControl: false });
  return (req, res, next) => {
    const path = req.path.endsWith('/') ? `${req.path}index.html` : req.path;
    const ending = extname(path);
    if (ending === '' || !builtName.test(path) || !existsSync(join(folder, path))) {
      next();
      return;
    }
    const isKept = path.startsWith('/assets/');
    res.setHeader('Cache-Control', isKept ? 'public, max-age=31536000, immutable' : 'no-cache');
    res.setHeader('Vary', 'Accept-Encoding');
    res.type(types[ending] ?? ending);
    const encoding = chooseEncoding(req);
    const file = path + (endings[encoding] ?? '');
    if (encoding !== 'identity' && existsSync(join(folder, file))) {
      res.setHeader('Content-Encoding', encoding);
      req.url = file;
    }
    sendFile(req, res, next);
  };
}
