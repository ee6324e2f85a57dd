// One delivery attempt: a POST that follows no redirects, limits the size of the answer and has a deadline.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { checkUrl, createGuardedLookup } from './guard.ts';

export interface Outgoing {
  url: string;
  body: string;
  headers: Record<string, string>;
  login: { username: string; password: string } | undefined;
}

export interface SendOptions {
  allowLoopback: boolean;
  allowHttp: boolean;
  milliseconds: number;
}

export interface Reply {
  status: number;
  retryAfter: string | undefined;
}

export const sendMilliseconds = 15_000;
/** The sandbox may deliver to this machine and without TLS. */
export const sendOptions = ({ environment }: { environment: 'sandbox' | 'production' }): SendOptions => ({
  allowLoopback: environment === 'sandbox',
  allowHttp: environment === 'sandbox',
  milliseconds: sendMilliseconds,
});

const longestAnswer = 64 * 1024;

/** Rejects when the answer is not complete at the deadline, or when `cancel` is aborted. */
export async function send(outgoing: Outgoing, options: SendOptions, cancel: AbortSignal): Promise<Reply> {
  // Not AbortSignal.any: `cancel` lives as long as the worker and would keep every signal derived from it in memory.
  const controller = new AbortController();
  const abort = () => {
    controller.abort();
  };
  const deadline = setTimeout(abort, options.milliseconds);
  cancel.addEventListener('abort', abort);
  try {
    return await post(outgoing, options, controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    throw new Error(`no answer within ${options.milliseconds / 1000} s`, { cause: error });
  } finally {
    clearTimeout(deadline);
    cancel.removeEventListener('abort', abort);
  }
}

function post(
  { url, body, headers, login }: Outgoing,
  options: SendOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const target = new URL(url);
  checkUrl(target, options);
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      target,
      {
        method: 'POST',
        // No connection pool: only the lookup of a new connection checks the address.
        agent: false,
        lookup: createGuardedLookup(options),
        signal,
        ...(login ? { auth: `${login.username}:${login.password}` } : {}),
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'User-Agent': 'payments-service-webhooks/1',
          ...headers,
        },
      },
      (answer) => {
        drain(answer).then(() => {
          resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] });
        }, reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

// The body of an answer is ignored, but it must be read to its end for the answer to count. A long one is cut off.
function drain(answer: IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    let read = 0;
    answer.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read <= longestAnswer) return;
      answer.destroy();
      resolve();
    });
    answer.on('end', resolve);
    answer.on('error', reject);
  });
}
