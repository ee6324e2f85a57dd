// The client itself: openapi-fetch with a token, a merchant account and patience. Nothing here may need Node.js.
import createClient from 'openapi-fetch';
import type { paths } from '../generated/types.ts';
import { unwrap } from './errors.ts';
import { pages, paginate, type FetchPage } from './paginate.ts';
import { createRetryingFetch, type Fetch, type RetryOptions } from './retry.ts';
import type { ListPath, Page, PaymentsClient } from './types.ts';

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`; the mock's address works as well. */
  baseUrl: string;
  /** The merchant account to act upon, `*` for all on lists. Left out: the oldest that the key pair can reach. */
  merchantAccount?: string | undefined;
  retry?: RetryOptions | undefined;
  /** Instead of the global `fetch`. */
  fetch?: Fetch | undefined;
}

export interface TokenClientOptions extends ClientOptions {
  /** An access token, or where to get one. A function is asked before every call, so it should remember. */
  token: string | (() => string | Promise<string>);
}

type PageResult<Path extends ListPath> =
  | { data: Page<Path>; error?: never; response: Response }
  | { data?: never; error: unknown; response: Response };

const accountHeader = 'X-Service-Merchant-Account-ID';

export function createPaymentsClient(options: TokenClientOptions): PaymentsClient {
  const { baseUrl, merchantAccount, token, retry, fetch = globalThis.fetch } = options;
  // Callers without a compiler: a client that can never be let in should not be made.
  if (typeof token !== 'string' && typeof token !== 'function')
    throw new TypeError('`token` is missing. To sign with a key pair, import payments-service/client/node.');

  const authorize = async ({ headers }: Request) => {
    if (headers.has('Authorization')) return;
    headers.set('Authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
  };
  const { GET, POST } = createClient<paths>({
    baseUrl,
    headers: { [accountHeader]: merchantAccount },
    // As a function of its own, because browsers refuse a `fetch` that is called on another object.
    fetch: createRetryingFetch((request) => fetch(request), authorize, retry),
  });
  const client = { GET, POST } as Pick<PaymentsClient, 'GET' | 'POST'>;

  // Of a path that is a type parameter the compiler cannot tell the options; ListPath has only those that take a query.
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
    paginate: (path, walk) => paginate(fetchPage, path, walk),
    pages: (path, walk) => pages(fetchPage, path, walk),
  };
}
