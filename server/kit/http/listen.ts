// The HTTP server: header limits and timeouts, and the contract's JSON for errors that never reach Express.
import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { errors } from '../../../generated/operations.ts';
import { errorBody } from '../errors.ts';
import { serveConnections } from './connections.ts';
import type { RequestFeed } from './dashboard/feed.ts';
import type { Messages } from './express.ts';
import { loggedId } from './headers.ts';

export const limits = {
  /** Open at once. More are closed. */
  connections: 2_000,
  /** Request line (with the URL) and headers together. The introduction of the contract tells callers the same number. */
  headerBytes: 64 * 1024,
  /** Far fewer than Node reads: it ignores the others without an error, and no check would see them. */
  headers: 200,
  /** On one connection, before it is closed: a load balancer then gets to spread its connections anew. */
  mostRequests: 1_000,
  headersMilliseconds: 10_000,
  requestMilliseconds: 30_000,
  keepAliveMilliseconds: 5_000,
  /** From the end of an answer to the head of the next request. Longer than the time to begin it and to send its headers. */
  nextRequestMilliseconds: 20_000,
  /** A connection on which nothing moves, such as one whose client does not read its answer. */
  stalledMilliseconds: 30_000,
  /** From the start of a request until its answer must have been taken. */
  answerMilliseconds: 60_000,
  /** How long an idle connection stays open at a stop, because a request may be on its way. */
  lastRequestMilliseconds: 500,
  shutdownMilliseconds: 10_000,
};

interface Address {
  host: string;
  port: number;
}

interface Refusals {
  note: RequestFeed['note'];
  /** The methods that the contract has for a URL, for requests whose method Node cannot read. */
  allowOf: (url: string) => string | undefined;
}

export async function listen(
  app: RequestListener & { messages?: Messages },
  { host, port }: Address,
  { note, allowOf }: Refusals,
) {
  const server = createServer({
    ...app.messages,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMilliseconds,
    requestTimeout: limits.requestMilliseconds,
    keepAliveTimeout: limits.keepAliveMilliseconds,
    connectionsCheckingInterval: 2_000,
    // The pipeline refuses a missing Host in the contract's shape.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  const refuse = (
    socket: Socket,
    reason: string,
    refused: Refused = { code: 'bad_request' },
    id: string = randomUUID(),
  ) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { code } = refused;
    writeRefusal(socket, id, refused);
    note({ ...unreadable, status: errors[code].status, code, requestId: loggedId(id), reason });
  };
  const { newest, endKeepAlive, close } = serveConnections(
    server,
    (req, res) => {
      if (req.rawHeaders.length > 2 * limits.headers) {
        refuse(req.socket, `there are more than ${limits.headers} headers`);
        return;
      }
      req.url = originForm(req.url ?? '');
      app(req, res);
    },
    limits,
  );
  /** For what cannot be read on a connection: the request before it may still be carried out, or have a body that is the fault. */
  const refuseUnread = (socket: Socket, reason: string, refused?: Refused) => {
    const res = newest(socket);
    // A refusal would be taken for the answer to the request before.
    if (res?.req.complete && !res.writableFinished) endAfter(res, socket);
    else {
      const known = res && !res.req.complete ? res.getHeader('X-Request-ID') : undefined;
      refuse(socket, reason, refused, typeof known === 'string' ? known : undefined);
    }
  };
  server.setTimeout(limits.stalledMilliseconds, (socket) => {
    const res = newest(socket);
    // A body that does not arrive.
    if (res && !res.headersSent && !res.req.complete) refuseUnread(socket, reasons.ERR_HTTP_REQUEST_TIMEOUT);
    else socket.destroy();
  });
  // Node would answer 417.
  server.on('checkExpectation', (req, res) => {
    server.emit('request', req, res);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Browsers open connections that they then do not use. A client that hung up reads no answer; its request is logged as aborted.
    if (socket.bytesRead === 0 || error.code === 'HPE_INVALID_EOF_STATE') {
      socket.destroy();
      return;
    }
    const target = unknownMethodTarget(error);
    if (target === undefined) refuseUnread(socket, whyUnread(error));
    else refuseUnread(socket, 'the method is unknown', refusedMethod(allowOf(originForm(target))));
  });
  server.on('connect', (_req, socket: Socket) => {
    // Node has removed its own listener, and a reset would end the process.
    socket.on('error', () => undefined);
    refuseUnread(socket, 'CONNECT is for proxies', refusedMethod(''));
  });
  await listenOn(server, { host, port });
  const connections = () => promisify(server.getConnections.bind(server))();
  return { port: (server.address() as AddressInfo).port, connections, endKeepAlive, close };
}

/** Fails at once where `listen` would fail later, after the database was started and migrated. */
export async function requireFreePort({ host, port }: Address): Promise<void> {
  const server = createServer();
  await listenOn(server, { host, port });
  await promisify(server.close.bind(server))();
}

const listenOn = (server: Server, { host, port }: Address) =>
  new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, done);
  });

// RFC 9112, 3.2.2: a server must accept `GET http://host/path` as well.
const originForm = (target: string): string =>
  target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/|\*)/, '/');

/** Node reads the usual methods only. What it received before it gave up begins with the request line. */
function unknownMethodTarget(error: NodeJS.ErrnoException & { rawPacket?: Buffer }): string | undefined {
  if (error.code !== 'HPE_INVALID_METHOD') return undefined;
  const received = error.rawPacket?.toString('latin1') ?? '';
  return /^[\w!#$%&'*+.^`|~-]+ ([\x21-\x7e]+) HTTP\/1\.[01]\r?\n/.exec(received)?.[1];
}

interface Refused {
  code: 'bad_request' | 'not_found' | 'method_not_allowed';
  allow?: string;
}

const refusedMethod = (allow: string | undefined): Refused =>
  allow === undefined ? { code: 'not_found' } : { code: 'method_not_allowed', allow };

/** Method and path are not shown, because all that is known of them are the received bytes, which may have anything. */
const unreadable = { method: '–', path: '(unreadable)', ms: 0 } as const;

const reasons = {
  HPE_INVALID_URL: 'the URL has characters that must be percent-encoded',
  HPE_INVALID_CONSTANT: 'the request line is not HTTP; a space in the URL must be percent-encoded',
  HPE_INVALID_HEADER_TOKEN: 'a header has characters that are not allowed',
  HPE_HEADER_OVERFLOW: 'the URL and the headers are too long',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not arrive in time',
} as const;

/** From the code of the error alone, because the rest of it has the received bytes. */
const whyUnread = ({ code = 'unknown' }: NodeJS.ErrnoException) =>
  (reasons as Record<string, string>)[code] ?? `it cannot be read as HTTP (${code})`;

const refusedMilliseconds = 1_000;

// Invalid HTTP never reaches Express, and Node would answer without a body.
function writeRefusal(socket: Socket, requestId: string, { code, allow }: Refused): void {
  const { status } = errors[code];
  const body = JSON.stringify(errorBody(code));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...(allow === undefined ? [] : [`Allow: ${allow}`]),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${requestId}`,
    'Access-Control-Allow-Origin: *',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that goes on sending, or does not read, must not keep the connection.
  setTimeout(() => socket.destroy(), refusedMilliseconds).unref();
}

/** Lets the answer to the request before go out first; how long it may take is bounded as for any answer. */
function endAfter(res: ServerResponse, socket: Socket): void {
  // Otherwise the client sends its next request on a connection that is about to end.
  if (!res.headersSent) res.setHeader('Connection', 'close');
  res.once('finish', () => socket.end());
}
