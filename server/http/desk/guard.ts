// Who may use the sandbox's pages: a person at this machine, in a page that we served. Data, tokens and actions are for the user
// who runs the service. Everyone else gets the same 404 as for any unknown path, so nothing tells that the pages are there.
import type { Request, RequestHandler } from 'express';
import { hasSeveralHosts } from '../headers.ts';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

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

const isOwn = (req: Request): boolean => isLocal(req) && isOwnPage(req) && isOfOwnUser(req.socket);

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

// Whether the program at the other end of a loopback connection runs as our user, or as root. Any user of the machine can send the
// headers of a browser, but not from a connection of somebody else. Only Linux says whose a connection is; elsewhere every local
// program is taken for our user's.

const known = new WeakMap<Socket, boolean>();

function isOfOwnUser(socket: Socket): boolean {
  const isOwn = known.get(socket) ?? look(socket);
  known.set(socket, isOwn);
  return isOwn;
}

function look({ remoteAddress, remotePort, localAddress, localPort }: Socket): boolean {
  if (process.platform !== 'linux') return true;
  // Seen from there, our end is the remote one.
  const [from, to] = [namesOf(remoteAddress, remotePort), namesOf(localAddress, localPort)];
  for (const line of ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(linesOf)) {
    const [, local = '', remote = '', state = '', , , , user] = line.trim().split(/\s+/);
    // One that is closed at the other end belongs to nobody, which the table writes as root.
    if (from.includes(local) && to.includes(remote) && openStates.includes(state))
      return Number(user) === process.getuid?.() || user === '0';
  }
  return false;
}

/** Established, and closed at our end only. */
const openStates = ['01', '08'];

/** A machine without IPv6 has one of the two. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** How the tables of the kernel write an address: 32-bit words in the byte order of the machine, which is little-endian here. */
function namesOf(address = '', port = 0): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (address === '::1') return [`00000000000000000000000001000000${suffix}`];
  const bytes = address
    .replace(/^::ffff:/, '')
    .split('.')
    .map(Number);
  const word = Buffer.from(bytes.reverse()).toString('hex').toUpperCase();
  // A program may use an IPv6 socket for an IPv4 address.
  return [`${word}${suffix}`, `0000000000000000FFFF0000${word}${suffix}`];
}
