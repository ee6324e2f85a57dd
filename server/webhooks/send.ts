// One delivery attempt: a POST that follows no redirects, reads a limited answer and ends by its deadline, whatever the
// receiver does (decision 9).
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket, TcpSocketConnectOpts } from 'node:net';
import { closeSoon, createConnections, type Connections, type Use } from './connections.ts';
import { AttemptFailure } from './failure.ts';
import { checkUrl, createGuardedLookup } from './guard.ts';
import { createResolve, type Resolve, type ResolveOptions } from './resolve.ts';

export interface Outgoing {
  /** The merchant account of the event. */
  account: string;
  subscription: string;
  url: string;
  body: string;
  headers: Record<string, string>;
  login: { username: string; password: string } | undefined;
}

export interface SendOptions extends ResolveOptions {
  allowLoopback: boolean;
  allowHttp: boolean;
  milliseconds: number;
}

export interface Reply {
  status: number;
  retryAfter: string | undefined;
}

/** Rejects when the answer is not complete at the deadline, or when `cancel` is aborted. */
export type Send = (outgoing: Outgoing, cancel: AbortSignal) => Promise<Reply>;

export const sendMilliseconds = 15_000;
/** The sandbox may deliver to this machine and without TLS. */
export const sendOptions = ({ environment }: { environment: 'sandbox' | 'production' }): SendOptions => ({
  allowLoopback: environment === 'sandbox',
  allowHttp: environment === 'sandbox',
  milliseconds: sendMilliseconds,
});

/** The body of an answer is ignored, but it must be read to its end for the answer to count. A longer one is cut off. */
const longestBody = 64 * 1024;
const longestHeaders = 16 * 1024;
/** Everything that is read, also what the parser drops: informational responses, chunk extensions, trailers. */
const longestAnswer = 256 * 1024;
const mostInformational = 10;
/** Until the next address of the same name is tried. Node's 250 ms are too short for another continent. */
const connecting: Partial<TcpSocketConnectOpts> = { autoSelectFamilyAttemptTimeout: 1_500 };

/** `close` closes the connections that are kept for the next delivery. */
export function createSend(options: SendOptions): { send: Send; close: () => void } {
  const resolve = createResolve(options);
  const connections = createConnections();
  const send: Send = (outgoing, cancel) =>
    new Promise((succeed, fail) => {
      const attempt = new AbortController();
      const end = () => {
        clearTimeout(deadline);
        cancel.removeEventListener('abort', onCancel);
      };
      const failWith = (error: Error) => {
        end();
        attempt.abort();
        fail(error);
      };
      const onCancel = () => {
        failWith(new AttemptFailure('the attempt was cancelled'));
      };
      // The timer itself settles the promise. To wait for an event of the connection would trust the receiver to cause one.
      const deadline = setTimeout(() => {
        failWith(new AttemptFailure(`no complete answer within ${options.milliseconds / 1000} s`));
      }, options.milliseconds);
      cancel.addEventListener('abort', onCancel);
      if (cancel.aborted) {
        onCancel();
        return;
      }
      post(outgoing, { options, resolve, connections }, attempt.signal).then((reply) => {
        end();
        succeed(reply);
      }, failWith);
    });
  return { send, close: connections.close };
}

interface Context {
  options: SendOptions;
  resolve: Resolve;
  /** Undefined: a connection of its own. */
  connections: Connections | undefined;
}

/** Destroys the connection when `signal` is aborted, unless the answer is complete. */
async function post(outgoing: Outgoing, context: Context, signal: AbortSignal): Promise<Reply> {
  const { account, subscription, url, body, headers, login } = outgoing;
  const { options, resolve, connections } = context;
  const target = new URL(url);
  checkUrl(target, options);
  const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
    method: 'POST',
    agent: connections?.agentOf(target) ?? false,
    ...({ subscription } satisfies Use),
    lookup: createGuardedLookup((hostname) => resolve(hostname, account, signal), options),
    ...connecting,
    maxHeaderSize: longestHeaders,
    ...(login ? { auth: `${login.username}:${login.password}` } : {}),
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'payments-service-webhooks/1',
      ...headers,
    },
  });
  const reply = replyTo(request);
  const destroy = destroyerOf(request);
  signal.addEventListener('abort', destroy, { once: true });
  request.end(body);
  try {
    const answered = await reply;
    signal.removeEventListener('abort', destroy);
    return answered;
  } catch (error) {
    destroy();
    // A receiver may close a kept connection at the moment at which it is used again.
    if (!request.reusedSocket || !isClosed(error) || signal.aborted) throw error;
    return post(outgoing, { ...context, connections: undefined }, signal);
  }
}

/** Before an answer: one that was cut off ends with another error, from `close`. */
const isClosed = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code));

function replyTo(request: ClientRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let isComplete = false;
    const fail = (message: string) => {
      if (!isComplete) reject(new AttemptFailure(message));
    };
    let informational = 0;
    request.on('information', () => {
      informational += 1;
      if (informational > mostInformational) fail('the receiver sent too many informational responses');
    });
    let read = 0;
    request.on('socket', (socket) => {
      const onData = (bytes: Buffer) => {
        read += bytes.length;
        if (read > longestAnswer) fail('the answer is too long');
      };
      socket.on('data', onData);
      // The connection may be used again, by another request.
      request.on('close', () => socket.off('data', onData));
    });
    // Without this listener Node closes the connection, and neither an answer nor an error is ever emitted.
    request.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve(replyOf(answer));
    });
    request.on('response', (answer) => {
      drain(answer, () => {
        // A receiver that answers early may never read the rest of the request.
        if (!request.shouldKeepAlive || !request.writableFinished) closeSoon(answer.socket);
        isComplete = true;
        resolve(replyOf(answer));
      });
      answer.on('error', reject);
    });
    request.on('error', reject);
    // The last event of every request, in case that none of the others came.
    request.on('close', () => {
      fail('the connection ended before the answer was complete');
    });
  });
}

const replyOf = ({ statusCode = 0, headers }: IncomingMessage): Reply => ({
  status: statusCode,
  retryAfter: headers['retry-after'],
});

/** Also destroys a connection that the request no longer owns, as after an upgrade. */
function destroyerOf(request: ClientRequest): () => void {
  let socket: Socket | undefined;
  request.on('socket', (given) => {
    socket = given;
  });
  return () => {
    request.destroy();
    socket?.destroy();
  };
}

/** Calls `done` at once, because a connection that is kept belongs to the next request a moment later. */
function drain(answer: IncomingMessage, done: () => void): void {
  let read = 0;
  answer.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read <= longestBody) return;
    answer.destroy();
    done();
  });
  answer.on('end', done);
}
