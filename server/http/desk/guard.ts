// Who may use the sandbox's pages: a person at this machine, in a page that we served. Everyone else gets the same 404 as for any
// unknown path, so nothing tells that the pages are there.
import type { Request, RequestHandler } from 'express';
import { hasSeveralHosts } from '../headers.ts';

/** The pages are served only by a server that listens here. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/**
 * The name is checked because of DNS rebinding: the page of another site, whose name suddenly means 127.0.0.1, sends its own name.
 * A proxy would let strangers in through the machine that it runs on.
 */
function isLocal({ headers, rawHeaders }: Request): boolean {
  if (hasSeveralHosts(rawHeaders)) return false;
  const names = Object.keys(headers);
  if (names.some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-')))
    return false;
  if (names.includes('x-real-ip')) return false;
  return isLoopback((headers.host ?? '').replace(/:\d{1,5}$/, ''));
}

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
export const forReaders: RequestHandler = passIf(isLocal);

const isOwn = (req: Request): boolean => isLocal(req) && isOwnPage(req);

/** For data: only scripts of our own pages. */
export const forOwnPages: RequestHandler = passIf(isOwn);

/**
 * For what acts: a POST with our own Origin. A form of another site has another Origin, and cannot send JSON.
 */
export const forOwnActions: RequestHandler = passIf(
  (req) =>
    isOwn(req) &&
    req.headers.origin !== undefined &&
    /^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? ''),
);
