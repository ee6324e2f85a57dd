// One error class for everything that can go wrong with a request. 422 has a body of another shape, and a proxy may send any body or none.
import type { LaterValue } from '../generated/answers.ts';
import type { ErrorDetailType } from '../generated/operations.ts';
import type { components } from '../generated/types.ts';

/**
 * `unprocessable`: a 422, whose body has no code. `unknown`: the response did not come from the service. `no_response`: the
 * connection failed. A later version of the service may send other codes, so a `switch` needs a default.
 */
export type PaymentsErrorCode =
  components['schemas']['ErrorCode'] | 'unprocessable' | 'unknown' | 'no_response' | LaterValue;

export interface PaymentsErrorDetail {
  /** `body`, `query`, `path` or `header`. */
  location: string;
  /** A JSON pointer to the offending value. */
  pointer: string;
  message: string;
  type: ErrorDetailType | LaterValue;
}

interface Facts {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly code: PaymentsErrorCode;
  /** Every violation in the request; empty if the error is not about a single value. */
  readonly details: PaymentsErrorDetail[];
  /** Quote it in support requests. */
  readonly requestId: string | null;
  /** Of `duplicate_record`: the ID of the existing record. */
  readonly resourceId: string | null;
  /** From `Retry-After`: in how many seconds to try again. */
  readonly retryAfterSeconds?: number | undefined;
  /** The response body, unchanged. */
  readonly body: unknown;
}

/** What errors with these codes always have. */
interface Certain {
  duplicate_record: { readonly resourceId: string };
  too_many_requests: { readonly retryAfterSeconds: number };
}

export type PaymentsError = Error & { readonly name: 'PaymentsError' } & Facts &
  (
    | { [Code in keyof Certain]: { readonly code: Code } & Certain[Code] }[keyof Certain]
    | { readonly code: Exclude<PaymentsErrorCode, keyof Certain> }
  );

// A class is not a union, so the type that `instanceof` narrows to is written above.
export const PaymentsError = class PaymentsError extends Error {
  override readonly name = 'PaymentsError';

  constructor(message: string, facts: Facts, options?: ErrorOptions) {
    super(message, options);
    // Shorter than an assignment for each: this is in every page.
    Object.assign(this, facts);
  }
} as unknown as new (message: string, facts: Facts, options?: ErrorOptions) => PaymentsError;

/** `request`: its method and its URL without the query. */
export function createError(response: Response, body: unknown, request: string): PaymentsError {
  const { status } = response;
  const { code, message, details, resourceId } = parseBody(response, body, request);
  const requestId = response.headers.get('X-Request-ID');
  const violations = details.map((detail) => `${detail.location} ${detail.pointer} ${detail.message}`);
  // The service has every path of this client, so a 404 that names nothing comes from a wrong path in baseUrl.
  const hint = code === 'not_found' ? `; ${request}; is baseUrl right?` : '';
  const what = violations.length > 0 ? violations.join('; ') : (explanations.get(code) ?? message) + hint;
  const quoted = requestId === null ? '' : ` (request ${requestId})`;
  // A proxy may have removed the header. The rate limit counts by the minute.
  const retryAfterSeconds = readRetryAfter(response) ?? (code === 'too_many_requests' ? 60 : undefined);
  const facts = { status, code, details, requestId, resourceId, retryAfterSeconds, body };
  return new PaymentsError(`${status} ${code}: ${what}${quoted}`, facts);
}

/** For a request whose connection failed. `fetch` says little more than "fetch failed". */
export function createConnectionError({ method, url }: Request, cause: unknown): PaymentsError {
  // Without the query, which may name customers.
  const { origin, pathname } = new URL(url);
  const reasons = [cause, isObject(cause) ? cause.cause : undefined].flatMap((one) =>
    isObject(one) ? [one.message, one.code].filter((text) => typeof text === 'string' && text !== '') : [],
  );
  const why = reasons.length > 0 ? `: ${reasons.join(', ')}` : '';
  const message = `no_response: ${method} ${pathname} got no response from ${origin}${why}`;
  const facts = { status: 0, details: [], requestId: null, resourceId: null, body: undefined };
  return new PaymentsError(message, { code: 'no_response', ...facts }, { cause });
}

/** For pages that lead back to one that was already there. */
export function createRepeatError(path: string): PaymentsError {
  const message = `200 unknown: a page of ${path} has a cursor that was there before; does something on the way cache answers?`;
  const facts = { status: 200, details: [], requestId: null, resourceId: null, body: undefined };
  return new PaymentsError(message, { code: 'unknown', ...facts });
}

/** In seconds. By RFC 9110 the header is a number of seconds, or a date. */
export function readRetryAfter({ headers }: Response): number | undefined {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = text.endsWith('GMT') ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

// The service's own message depends only on the status, and for some it is "Generic error".
const explanations = new Map<string, string>([
  ['bad_request', 'The request does not match the contract'],
  ['forbidden', "The token's scopes or the key pair's roles do not allow this"],
  ['duplicate_record', 'Another record has the same unique value'],
  ['too_early', 'The request was sent as TLS early data; send it again after the handshake'],
  ['too_many_requests', 'Too many requests, or too many cards stored; try again when Retry-After has passed'],
  ['bad_gateway', 'A provider behind the service failed'],
  ['gateway_timeout', 'The service or a provider did not answer in time; try again after Retry-After'],
]);

interface ParsedBody extends Pick<Facts, 'code' | 'details' | 'resourceId'> {
  message: string;
}

function parseBody({ status, headers }: Response, body: unknown, request: string): ParsedBody {
  if (isError(body)) {
    const { code, message, details } = body;
    return { code, message, details, resourceId: body.resource_id ?? null };
  }
  if (isValidationError(body)) {
    const details = body.detail.map(({ loc: [location, ...rest], msg, type }) => ({
      location: String(location),
      pointer: rest.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
      message: msg,
      type,
    }));
    return { code: 'unprocessable', message: 'The request cannot be processed', details, resourceId: null };
  }
  // A browser hides the status of a redirect and shows 0.
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  const type = headers.get('Content-Type')?.split(';', 1)[0] ?? 'no content type';
  const message = isRedirect
    ? 'The response is a redirect, which the client does not follow; check baseUrl'
    : status < 400 && (body === undefined || body === '')
      ? 'The response has no body'
      : `The response does not come from the service: ${request} returned ${typeof body === 'object' ? 'JSON of another shape' : type}; is baseUrl right?`;
  return { code: 'unknown', message, details: [], resourceId: null };
}

// In the contract's own types the kind of a detail is any text.
type ErrorBody = components['schemas']['Error'] &
  Partial<components['schemas']['ConflictError']> & { details: PaymentsErrorDetail[] };
interface ValidationErrorBody {
  detail: (components['schemas']['ValidationErrorDetail'] & Pick<PaymentsErrorDetail, 'type'>)[];
}

const isError = (body: unknown): body is ErrorBody =>
  isObject(body) &&
  body.type === 'error' &&
  typeof body.code === 'string' &&
  // The contract allows null; the service always names the record.
  (body.code !== 'duplicate_record' || typeof body.resource_id === 'string') &&
  typeof body.message === 'string' &&
  Array.isArray(body.details) &&
  body.details.every(isObject);

const isValidationError = (body: unknown): body is ValidationErrorBody =>
  isObject(body) &&
  Array.isArray(body.detail) &&
  body.detail.every((entry) => isObject(entry) && Array.isArray(entry.loc));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
