// The client: openapi-fetch with authorization, a merchant account and retries. Must not import anything Node-only.
import createClient from 'openapi-fetch';
import type { paths } from '../generated/types.ts';
import { unwrap } from './errors.ts';
import { keyHeader, makeKey, takesKey } from './idempotency.ts';
import { pages, paginate, type FetchPage } from './paginate.ts';
import { createRetryingFetch, type Fetch, type RetryOptions } from './retry.ts';
import type { ListPath, Page, PaymentsClient } from './types.ts';

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
  /** An access token, or a function that returns one. The function is called before every request, so it should cache. */
  token: string | (() => string | Promise<string>);
}

type PageResult<Path extends ListPath> =
  | { data: Page<Path>; error?: never; response: Response }
  | { data?: never; error: unknown; response: Response };

const accountHeader = 'X-Service-Merchant-Account-ID';

export function createPaymentsClient(options: TokenClientOptions): PaymentsClient {
  const { baseUrl, merchantAccount, token, retry, fetch = globalThis.fetch } = options;
  // For JavaScript callers: without a token every request would fail with 401.
  if (typeof token !== 'string' && typeof token !== 'function')
    throw new TypeError('`token` is missing. To sign with a key pair, import payments-service/client/node.');

  const authorize = async ({ headers }: Request) => {
    if (headers.has('Authorization')) return;
    headers.set('Authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
  };
  const raw = createClient<paths>({
    baseUrl,
    headers: { [accountHeader]: merchantAccount },
    // The service never redirects. Followed, a 307 would send the card number and the security code to another host.
    redirect: 'manual',
    // Wrapped, because browsers throw "Illegal invocation" if `fetch` is called as a method of another object.
    fetch: createRetryingFetch((request) => fetch(request), authorize, retry),
  });
  if (retry?.writes !== false)
    raw.use({
      onRequest({ request, schemaPath }) {
        // Where the service ignores keys, one must not make the call look safe to retry.
        if (!takesKey(request.method, schemaPath)) request.headers.delete(keyHeader);
        else if (!request.headers.has(keyHeader)) request.headers.set(keyHeader, makeKey());
      },
    });
  const client = { GET: raw.GET, POST: raw.POST } as Pick<PaymentsClient, 'GET' | 'POST'>;

  // The compiler cannot infer the options of a generic path. Every ListPath takes a query, so the cast is safe.
  const getPage = client.GET as <Path extends ListPath>(
    path: Path,
    init: object,
  ) => Promise<PageResult<Path>>;
  const fetchPage: FetchPage = async (path, query, { signal, merchantAccount: account }) =>
    unwrap(
      await getPage(path, {
        params: { query },
        ...(account === undefined ? {} : { headers: { [accountHeader]: account } }),
        ...(signal && { signal }),
      }),
    );

  return {
    ...client,
    paginate: (path, listOptions) => paginate(fetchPage, path, listOptions),
    pages: (path, listOptions) => pages(fetchPage, path, listOptions),
  };
}
