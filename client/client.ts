// The client: openapi-fetch with authorization, a merchant account and retries. Must not import anything Node-only.
import createClient from 'openapi-fetch';
import { contractVersion, routes } from '../generated/operations.ts';
import type { paths } from '../generated/types.ts';
import { createError, PaymentsError } from './errors.ts';
import { keyHeader, makeKey } from './idempotency.ts';
import { pages, paginate, type FetchPage, type Walk } from './paginate.ts';
import { createRetryingFetch, type Authorize, type Fetch, type RetryOptions } from './retry.ts';
import { runUntil } from './signal.ts';
import type { Calls, PaymentsClient, Result } from './types.ts';

export interface ClientOptions {
  /** URL of the service, such as `http://127.0.0.1:8080`, or of the mock. */
  baseUrl: string;
  /** ID of the merchant account; `*` for all accounts, on lists. Default: the oldest account that the key pair can access. */
  merchantAccount?: string | undefined;
  retry?: RetryOptions | undefined;
  /** Default: the global `fetch`. */
  fetch?: Fetch | undefined;
}

export interface TokenClientOptions extends ClientOptions {
  /**
   * An access token, or a function that returns one. The function is called before every request, so it should cache. After a 401
   * it is called once more, with the token that was refused, and if it returns another one, the request is sent again, once. What
   * it throws rejects the call, unchanged, both times.
   */
  token: string | ((refused?: string) => string | Promise<string>);
}

interface RawResult {
  data?: unknown;
  error?: unknown;
  response: Response;
}

export function createPaymentsClient(options: TokenClientOptions): PaymentsClient {
  const { baseUrl, merchantAccount, token, retry, fetch } = options;
  // For JavaScript callers: without a token every request would fail with 401.
  if (typeof token !== 'string' && typeof token !== 'function')
    throw new TypeError(
      '`token` is missing. To sign with a key pair, import payments-service-client/server.',
    );

  // Without the check, requests would go to the page's own server and get a page back.
  if (!/^(https?:\/)?\//i.test(baseUrl))
    throw new TypeError(
      `\`baseUrl\` ${baseUrl ? 'must begin' : 'is missing; it begins'} with http://, https:// or /.`,
    );
  // `Request` refuses it too, with the password in its message.
  if (/^\w+:\/\/[^/?#]*@/.test(baseUrl))
    throw new TypeError('`baseUrl` must not have a user name or password in it.');

  // Paths are appended to it, so they would become part of the query or the fragment.
  if (/[?#\s]/.test(baseUrl)) throw new TypeError('`baseUrl` must not have ?, # or blanks in it.');

  const authorize: Authorize = async ({ headers }, refused) => {
    if (headers.has('Authorization')) return undefined;
    const isFixed = typeof token === 'string';
    const text = checkToken(isFixed ? token : await token(refused));
    headers.set('Authorization', `Bearer ${text}`);
    return isFixed ? undefined : text;
  };
  const raw = createClient<paths>({
    baseUrl,
    headers: { 'X-Service-Merchant-Account-ID': merchantAccount },
    // Wrapped, because browsers throw "Illegal invocation" if `fetch` is called as a method of another object. The global one is
    // that of the call: tests replace it, often after the client was made.
    fetch: createRetryingFetch((request) => (fetch ?? globalThis.fetch)(request), authorize, retry),
  });
  raw.use({
    onRequest({ request, schemaPath }) {
      // Where the service ignores keys, one must not make the call look safe to retry.
      if (!routes[`${request.method} ${schemaPath}`]?.takesKey) request.headers.delete(keyHeader);
      else if (!request.headers.has(keyHeader)) request.headers.set(keyHeader, makeKey());
    },
  });

  // For messages.
  const urlOf = (path: string) => baseUrl.replace(/\/?$/, path);

  // The types of openapi-fetch need a path that is known to the compiler. `Calls` gives callers those types.
  const send = raw.request as (method: string, path: string, init: object) => Promise<RawResult>;
  const call =
    (method: string) =>
    async (path: string, init: { signal?: AbortSignal | null } = {}) => {
      checkCall(method, path, init);
      try {
        const {
          data: text,
          error,
          response,
        } = await runUntil(init.signal, (signal) => send(method, path, { ...init, ...always, signal }));
        if (response.status === 204 && routes[`${method} ${path}`]?.mayBeEmpty)
          return { data: undefined, response };
        const data = response.ok ? parsed(text) : undefined;
        // `error` is undefined if an error response has no body, so check the status.
        return data !== undefined && isAnswer(data, routes[`${method} ${path}`]?.answer)
          ? { data, response }
          : { error: createError(response, error ?? data ?? text, `${method} ${urlOf(path)}`), response };
      } catch (error) {
        // The connection failed. Whatever else was thrown is the caller's: an abort, or an error of its `token` function.
        if (error instanceof PaymentsError) return { error, response: Response.error() };
        throw error;
      }
    };
  const methods = new Set(Object.keys(routes).map((route) => route.slice(0, route.indexOf(' '))));
  const calls = Object.fromEntries([...methods].map((method) => [method, call(method)])) as unknown as Calls;

  const fetchPage = (async (path: string, init: object) => {
    checkCall('GET', path, init);
    // For JavaScript callers: the compiler knows which lists have pages.
    if (routes[`GET ${path}`]?.answer !== 'page') throw new TypeError(`${path} has no pages. Call GET.`);
    return unwrap(await call('GET')(path, init));
  }) as FetchPage;
  return {
    ...calls,
    use: (...middleware) => {
      raw.use(...middleware);
    },
    // Every list takes a cursor, which the compiler cannot infer for a generic path.
    paginate: (path, walk) => paginate(fetchPage, path, walk as Walk | undefined),
    pages: (path, walk) => pages(fetchPage, path, walk as Walk | undefined),
  };
}

/** Options of every call, whatever the caller says. */
const always = {
  // The service never redirects. Followed, a 307 would send the card number and the security code to another host.
  redirect: 'manual',
  // openapi-fetch would throw if a proxy answers with a page. That is an answer like any other: see `parsed`.
  parseAs: 'text',
};

/** Undefined if there is no JSON. */
function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Of a proxy or another service, JSON of another shape would fail much later, in the caller's code. */
function isAnswer(data: unknown, kind: (typeof routes)[string]['answer']): boolean {
  const { type, items, next_cursor, previous_cursor } = Object(data) as Record<string, unknown>;
  if (kind === 'resource') return typeof type === 'string';
  const cursors = kind === 'page' ? [next_cursor, previous_cursor] : [];
  return (
    !kind ||
    (Array.isArray(items) && cursors.every((cursor) => cursor === null || typeof cursor === 'string'))
  );
}

/** `Headers` quotes a value that it refuses in its error: a token, or a private key that was given in place of one. */
function checkToken(token: unknown): string {
  const text = typeof token === 'string' ? token.trim() : '';
  const isPage = text.startsWith('<');
  if (!isPage && /^[\x21-\x7e]+$/.test(text)) return text;
  const hint = isPage ? ' It is a page: is the URL that it comes from right?' : '';
  throw new TypeError(
    `\`token\` is not an access token: it must be one line of ASCII without spaces.${hint}`,
  );
}

/** For JavaScript callers: the compiler finds both mistakes. */
function checkCall(method: string, path: string, init: object): void {
  if (!Object.hasOwn(routes, `${method} ${path}`))
    throw new TypeError(
      `The contract (${contractVersion}) has no ${method} ${path}. It has ${Object.keys(routes).sort().join(', ')}.`,
    );
  // Ignored, a filter would silently find everything.
  if ('query' in init) throw new TypeError('Pass the query in `params`: { params: { query: { … } } }');
}

/** Returns the data of a successful response; throws the PaymentsError of any other. */
export function unwrap<Data>(result: Result<Data>): Data {
  if (result.error) throw result.error;
  return result.data;
}
