// One error class for every unsuccessful response. 422 has a body of another shape, and a proxy may send any body or none.
import type { OtherText, Schemas } from './types.ts';

/** `unprocessable`: a 422, whose body has no code. `unknown`: the response did not come from the service. */
export type PaymentsErrorCode = Schemas['ErrorCode'] | 'unprocessable' | 'unknown' | OtherText;

export interface PaymentsErrorDetail {
  /** `body`, `query`, `path` or `header`. */
  location: string;
  /** A JSON pointer to the offending value. */
  pointer: string;
  message: string;
  type: string;
}

export class PaymentsError extends Error {
  override readonly name = 'PaymentsError';
  readonly status: number;
  readonly code: PaymentsErrorCode;
  /** Every violation in the request; empty if the error is not about a single value. */
  readonly details: readonly PaymentsErrorDetail[];
  /** Quote it in support requests. */
  readonly requestId: string | null;
  /** On 409: the ID of the existing record. */
  readonly resourceId: string | null;
  /** The response body, unchanged. */
  readonly body: unknown;

  constructor(response: Response, body: unknown) {
    const { code, message, details, resourceId } = parseBody(response, body);
    const requestId = response.headers.get('X-Request-ID');
    const violations = details.map((detail) => `${detail.location} ${detail.pointer} ${detail.message}`);
    const what = violations.length > 0 ? violations.join('; ') : (explanations.get(code) ?? message);
    const request = requestId === null ? '' : ` (request ${requestId})`;
    super(`${response.status} ${code}: ${what}${request}`);
    this.status = response.status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.resourceId = resourceId;
    this.body = body;
  }
}

// The service's own message depends only on the status, and for some it is "Generic error".
const explanations = new Map<string, string>([
  ['bad_request', 'The request does not match the contract'],
  ['forbidden', "The token's scopes or the key pair's roles do not allow this"],
  ['duplicate_record', 'Another record has the same unique value'],
  ['too_early', 'The request was sent as TLS early data; send it again after the handshake'],
  ['too_many_requests', 'Too many requests, or too many cards stored; try again when Retry-After has passed'],
  ['bad_gateway', 'A provider behind the service failed'],
  ['gateway_timeout', 'A provider behind the service did not answer in time'],
]);

interface ParsedBody {
  code: PaymentsErrorCode;
  message: string;
  details: PaymentsErrorDetail[];
  resourceId: string | null;
}

function parseBody({ status }: Response, body: unknown): ParsedBody {
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
  const message = isRedirect
    ? 'The response is a redirect, which the client does not follow; check baseUrl'
    : status < 400
      ? 'The response has no body'
      : 'The response does not come from the service';
  return { code: 'unknown', message, details: [], resourceId: null };
}

const isError = (body: unknown): body is Schemas['Error'] & Partial<Schemas['ConflictError']> =>
  isObject(body) &&
  body.type === 'error' &&
  typeof body.code === 'string' &&
  typeof body.message === 'string' &&
  Array.isArray(body.details) &&
  body.details.every(isObject);

const isValidationError = (body: unknown): body is Schemas['ValidationError'] =>
  isObject(body) &&
  Array.isArray(body.detail) &&
  body.detail.every((entry) => isObject(entry) && Array.isArray(entry.loc));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

interface AnyResult {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** Returns the data of a successful response; throws a PaymentsError for any other. */
export function unwrap<Result extends AnyResult>(
  result: Result,
): Exclude<Extract<Result, { error?: never }>['data'], undefined>;
export function unwrap({ data, error, response }: AnyResult): unknown {
  // `error` is undefined if an error response has no body, so check the status.
  if (!response.ok || data === undefined) throw new PaymentsError(response, error);
  return data;
}
