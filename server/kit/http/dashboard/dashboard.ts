// The sandbox's pages for developers: a landing page with the last requests, events and deliveries, and a console. The pages are
// built by `npm run docs`; here is what they ask for. The mock serves them too, without events.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Router, type Request, type RequestHandler } from 'express';
import { ApiError } from '../../errors.ts';
import { uuidSource } from '../../rules/values.ts';
import { hasSeveralHosts } from '../headers.ts';
import { sayBuilding, serveBuilt } from '../static.ts';
import type { Feed, FeedEvent, RequestFeed } from './feed.ts';

export interface DashboardDeps {
  pagesDir: string;
  facts: { name: string; version: string; kind: 'sandbox' | 'mock' };
  requests: RequestFeed;
  firstCall: () => string;
  makeToken: () => string;
  /** The mock has none. */
  events?: {
    list: () => Promise<FeedEvent[]>;
    replay: (eventId: string) => Promise<number>;
  };
}

const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src data:; img-src 'self' data:; connect-src 'self'",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

const protect: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', policy);
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  res.setHeader('Referrer-Policy', 'no-referrer');
  next();
};

/** Scalar adds its styles at run time. */
const allowStyles: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', policy.replace('style-src', "style-src 'unsafe-inline'"));
  next();
};

const wantsPage: RequestHandler = (req, _res, next) => {
  next(/\btext\/html\b/.test(req.headers.accept ?? '') ? undefined : 'route');
};

/** For programs that accept anything, such as curl. Those that want JSON get the contract's 404. The mock's package has no pages. */
const sayWhere =
  ({ name, kind }: DashboardDeps['facts'], pagesDir: string): RequestHandler =>
  (req, res, next) => {
    if (!/(^|,)\s*(\*\/\*|text\/(\*|plain))/.test(req.headers.accept ?? '*/*')) {
      next();
      return;
    }
    // The guard has checked that the name is one of this machine.
    const url = `http://${req.headers.host}`;
    const pages = `Docs:     ${url}/docs/ (for programs: ${url}/llms.txt)\nConsole:  ${url}/console/\n`;
    const elsewhere = kind === 'mock' ? 'Docs:     /docs/ of the server you got this from\n' : '';
    const where = existsSync(join(pagesDir, 'index.html')) ? pages : elsewhere;
    res.type('text/plain').send(`${name}: ${kind}\nContract: ${url}/openapi.json\n${where}`);
  };

// A pattern instead of `:id`: Express would decode that, and answer `%zz` with its own error page.
const replayPattern = new RegExp(`^/sandbox/events/(${uuidSource})/replay$`);

/** One step for the app, so that requests for operations pass it without being compared with each of its routes. */
export function createDashboard(
  { pagesDir, facts, requests, firstCall, makeToken, events }: DashboardDeps,
  isOperation: (req: Request) => boolean,
): RequestHandler {
  const dashboard = Router({ caseSensitive: true, strict: true });
  const pages = serveBuilt(pagesDir);
  const building = sayBuilding(pagesDir, 'index.html');
  dashboard.get('/', forReaders, wantsPage, protect, pages, building);
  dashboard.get('/', forReaders, sayWhere(facts, pagesDir));
  dashboard.get('/console', forReaders, (_req, res) => {
    res.redirect(308, 'console/');
  });
  dashboard.get('/console/', forReaders, protect, allowStyles, pages, building);
  dashboard.get(/^\/assets\/[a-z]+\.[0-9a-f]{12}\.(css|js)$/, forReaders, protect, pages);

  dashboard.get('/sandbox/feed', forOwnPages, protect, async (req, res) => {
    const after = Number(new URL(req.url, 'http://here').searchParams.get('after') ?? 0);
    res.json({
      ...facts,
      firstCall: firstCall(),
      events: await events?.list(),
      ...requests.since(Number.isSafeInteger(after) ? after : 0),
    } satisfies Feed);
  });
  dashboard.post('/sandbox/token', forOwnActions, protect, (_req, res) => {
    res.json({ token: makeToken() });
  });
  if (events)
    dashboard.post(replayPattern, forOwnActions, protect, async (req, res) => {
      const replayed = await events.replay(String(req.params[0]));
      res.status(replayed > 0 ? 200 : 409).json({ replayed });
    });
  return (req, res, next) => {
    // A router answers OPTIONS itself, which is for CORS.
    if (req.method === 'OPTIONS' || isOperation(req)) next();
    else dashboard(req, res, next);
  };
}

// Who may use the sandbox's pages: a person at this machine, in a page that we served. Everyone else gets the same 404 as for any
// unknown path, so nothing tells that the pages are there.
/** The pages are served only by a server that listens here, and is not meant for others. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/**
 * A proxy would let strangers in through the machine that it runs on. nginx adds no header by default, and sends the name of this
 * server: before 1.29.7 by HTTP/1.0, which no browser does, since then by HTTP/1.1, so see `isFromBrowser`.
 */
function isProxied({ headers, httpVersion }: Request): boolean {
  const isOfProxy = (name: string) =>
    ['forwarded', 'via', 'x-real-ip'].includes(name) || name.startsWith('x-forwarded-');
  return httpVersion !== '1.1' || Object.keys(headers).some(isOfProxy);
}

/** The name is checked because of DNS rebinding: the page of another site, whose name suddenly means 127.0.0.1, sends its own name. */
const hasOwnName = ({ headers, rawHeaders }: Request): boolean =>
  !hasSeveralHosts(rawHeaders) && isLoopback((headers.host ?? '').replace(/:\d{1,5}$/, ''));

const isLocal = (req: Request): boolean => !isProxied(req) && hasOwnName(req);

/**
 * Browsers send exactly this `Connection`. It is for the next hop only: nginx and HAProxy do not hand it on, and Vite's `server.proxy`
 * only one with `upgrade` in it. With an `agent`, Vite hands on every one, and nothing else tells of it.
 */
const isFromBrowser = ({ headers }: Request): boolean => headers.connection === 'keep-alive';

/** A browser sets these headers itself; a page cannot. Pages of other origins have another Origin, or `null`. */
function isOwnPage({ headers }: Request): boolean {
  const { origin, host } = headers;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}

const passIf =
  (isAllowed: (req: Request) => boolean): RequestHandler =>
  (req, _res, next) => {
    // `route` skips the handlers after this one: the request goes on to the contract's 404.
    next(isAllowed(req) ? undefined : 'route');
  };

/** For pages and their scripts, which hold no data and change nothing. People may come to them from a link. */
const forReaders: RequestHandler = passIf(isLocal);

const isOwn = (req: Request): boolean => isLocal(req) && isFromBrowser(req) && isOwnPage(req);

/** For what programs on this machine may do, too. They send no Origin and no Sec-Fetch-Site; for a page of another site, the browser sends one. */
export const isForeign = (req: Request): boolean => !isLocal(req) || !isOwnPage(req);

/** For data: only scripts of our own pages. */
const forOwnPages: RequestHandler = passIf(isOwn);

/** For what acts: a POST with our own Origin. A form of another site has another Origin, and cannot send JSON. */
const forOwnActions: RequestHandler = passIf(
  (req) =>
    isOwn(req) &&
    req.headers.origin !== undefined &&
    /^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? ''),
);

/** For the log, after all pages: whoever put a proxy before a sandbox looks for its landing page there. */
export const explainAbsence: RequestHandler = (req, _res, next) => {
  const isPage = req.method === 'GET' && ['/', '/console', '/console/'].includes(req.path);
  if (isPage && isProxied(req)) throw absent('this page is not served through a proxy');
  if (isPage && !hasOwnName(req))
    throw absent('this page is served only under a name of this machine, such as localhost');
  next();
};

const absent = (reason: string) => new ApiError('not_found', { reason });
