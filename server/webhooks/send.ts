// One delivery attempt: a POST that follows no redirect, reads little and ends in time.
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
/** The sandbox may deliver to this machine, and without TLS. */
export const sendOptions = ({ environment }: { environment: 'sandbox' | 'production' }): SendOptions => ({
  allowLoopback: environment === 'sandbox',
  allowHttp: environment === 'sandbox',
  milliseconds: sendMilliseconds,
});

const longestAnswer = 64 * 1024;

/** Rejects when there was no whole answer in time, or when `ending` says that nobody waits for it any more. */
export async function send(outgoing: Outgoing, options: SendOptions, ending: AbortSignal): Promise<Reply> {
  // Not AbortSignal.any: it holds on to every signal made from one that lives as long as the worker.
  const stopping = new AbortController();
  const stop = () => {
    stopping.abort();
  };
  const timer = setTimeout(stop, options.milliseconds);
  ending.addEventListener('abort', stop);
  try {
    return await post(outgoing, options, stopping.signal);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    throw new Error(`no answer within ${options.milliseconds / 1000} s`, { cause: error });
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', stop);
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
        // A connection of its own: a kept one would have been judged for another address.
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

// The body of an answer does not matter, but the answer is whole only when it has ended. A long one is cut off.
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
