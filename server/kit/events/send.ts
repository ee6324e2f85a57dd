// One delivery attempt: a POST that ends by its deadline, whatever the receiver does (decision 9). The head of the answer decides:
// the rest of a 2xx is discarded, and of any other the first kilobyte is for the operator. undici's `Client` follows no redirects
// and uses no proxy.
import type { Dispatcher } from 'undici';
import { packageName } from '../../../generated/operations.ts';
import { connectionLimits, createConnections, type ReceiverConnection } from './connections.ts';
import { showAnswer, AttemptFailure, sendMilliseconds } from './failure.ts';
import { checkUrl, createGuardedLookup, urlRules, type UrlRules } from './guard.ts';
import { createResolve, type ResolveOptions } from './resolve.ts';

interface Outgoing {
  /** The merchant account of the event. */
  account: string;
  subscription: string;
  url: string;
  body: string;
  headers: Record<string, string>;
  secrets: readonly string[];
  login: { username: string; password: string } | undefined;
}

export interface SendOptions extends ResolveOptions, UrlRules {
  milliseconds: number;
}

interface Reply {
  status: number;
  retryAfter: string | undefined;
  /** The beginning of the body, masked. Null if it is empty, and with 2xx. */
  answer: string | null;
}

/** Rejects when there is no answer by the deadline, or when `cancel` is aborted before there is one. */
export type Send = (outgoing: Outgoing, cancel: AbortSignal) => Promise<Reply>;

export const sendOptions = (config: Parameters<typeof urlRules>[0]): SendOptions => ({
  ...urlRules(config),
  milliseconds: sendMilliseconds,
});

/** A connection is kept only after a whole answer, so the rest of a 2xx is read, but not for long. */
const restMilliseconds = 1_000;

/** `close` closes the connections that are kept for the next delivery. */
export function createSend(
  options: SendOptions,
  limits = connectionLimits,
): { send: Send; close: () => void } {
  const resolve = createResolve(options);
  const connections = createConnections(limits);
  const send: Send = async (outgoing, cancel) => {
    const url = new URL(outgoing.url);
    checkUrl(url, options);
    const over = new AbortController();
    const onCancel = () => {
      over.abort(new AttemptFailure('the attempt was cancelled'));
    };
    if (cancel.aborted) onCancel();
    over.signal.throwIfAborted();
    cancel.addEventListener('abort', onCancel);
    const deadline = setTimeout(() => {
      over.abort(new AttemptFailure(`no answer within ${options.milliseconds / 1000} s`));
    }, options.milliseconds);
    const lookup = createGuardedLookup((name) => resolve(name, outgoing.account, over.signal), options);
    const connection = connections.take(outgoing.subscription, url, lookup);
    let isWhole = false;
    try {
      const { head, said, ...read } = await post(connection, requestOf(outgoing, url), over.signal);
      isWhole = read.isWhole;
      return { ...head, answer: showAnswer(said, secretsOf(outgoing)) };
    } finally {
      clearTimeout(deadline);
      cancel.removeEventListener('abort', onCancel);
      if (isWhole) connections.keep(connection);
      else connections.close(connection);
    }
  };
  return { send, close: connections.closeIdle };
}

const basicOf = ({ username, password }: NonNullable<Outgoing['login']>): string =>
  Buffer.from(`${username}:${password}`).toString('base64');

/** What must not be shown if the receiver quotes it. Secrets are masked with their prefix in any case. */
const secretsOf = ({ secrets, login }: Outgoing): string[] =>
  [
    ...secrets.map((secret) => secret.slice('whsec_'.length)),
    ...(login ? [basicOf(login), login.password] : []),
  ].filter((secret) => secret !== '');

const requestOf = (
  { body, headers, login }: Outgoing,
  { pathname, search }: URL,
): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path: `${pathname}${search}`,
  body,
  headers: {
    'Content-Type': 'application/json',
    'User-Agent': `${packageName}-webhooks/1`,
    ...headers,
    ...(login && { Authorization: `Basic ${basicOf(login)}` }),
  },
});

const isClosed = (error: NodeJS.ErrnoException): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(error.code));

interface Answered {
  head: Omit<Reply, 'answer'>;
  /** The body as far as it was read, unless the status is 2xx. */
  said: Buffer;
  /** Whether the connection can be used again. */
  isWhole: boolean;
}

/**
 * Resolves at the end of the answer, however it ends, if its head has come. Settles at once when `signal` is aborted: to wait
 * for an event of the connection would trust the receiver to cause one.
 */
const post = (
  connection: ReceiverConnection,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<Answered> =>
  new Promise((succeed, fail) => {
    let head: Answered['head'] | undefined;
    let rest: NodeJS.Timeout | undefined;
    const said: Buffer[] = [];
    const isSuccess = () => head !== undefined && head.status >= 200 && head.status < 300;
    const end = (isWhole: boolean, error?: Error) => {
      clearTimeout(rest);
      if (head) succeed({ head, said: Buffer.concat(said), isWhole });
      else fail(error ?? new AttemptFailure('the attempt ended without an answer'));
    };
    const kept = connection.socket;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart(_, status, { 'retry-after': retryAfter }) {
        // Informational responses come before the answer; nobody asked for another protocol.
        if (status < 200 && status !== 101) return;
        head = { status, retryAfter: [retryAfter].flat()[0] };
        if (status === 101) end(false);
        if (isSuccess()) rest = setTimeout(end, restMilliseconds, false);
      },
      onResponseData(_, chunk) {
        if (!isSuccess()) said.push(chunk);
      },
      onResponseEnd() {
        end(true);
      },
      onResponseError(_, error) {
        const isUnanswered = kept === connection.socket && kept?.bytesRead === connection.readBefore;
        if (isUnanswered && isClosed(error) && !signal.aborted) {
          // A receiver may close a kept connection at the moment at which it is used again. Once: the next one is new.
          connection.socket = undefined;
          queueMicrotask(dispatch);
          return;
        }
        // undici refuses 101 with `Upgrade`, and 100.
        if (error.message === 'bad upgrade') head = { status: 101, retryAfter: undefined };
        const isContinue = error.message === 'bad response';
        end(false, isContinue ? new AttemptFailure('the receiver sent 100 Continue unasked') : error);
      },
    };
    const dispatch = () => connection.client.dispatch(request, handler);
    signal.addEventListener('abort', () => {
      end(false, signal.reason as Error);
    });
    dispatch();
  });
