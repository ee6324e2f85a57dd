// One error for every answer that is not a success, whatever its shape: 422 has its own, and a proxy may answer with none.
import type { Schemas } from './types.ts';

/** `unprocessable` is a 422, whose body has no code; `unknown` is an answer that did not come from the service. */
export type PaymentsErrorCode = Schemas['ErrorCode'] | 'unprocessable' | 'unknown';

export interface PaymentsErrorDetail {
  /** `body`, `query` or `path`. */
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
  /** Everything that is wrong with the request; empty where there is nothing to point at. */
  readonly details: readonly PaymentsErrorDetail[];
  /** Quote it to whoever runs the service. */
  readonly requestId: string | null;
  /** With 409: the record that stands in the way. */
  readonly resourceId: string | null;
  /** The body as it came. */
  readonly body: unknown;

  constructor(response: Response, body: unknown) {
    const { code, message, details, resourceId } = read(response, body);
    const requestId = response.headers.get('X-Request-ID');
    const faults = details.map(({ location, pointer, message: fault }) => `${location} ${pointer} ${fault}`);
    const request = requestId === null ? '' : ` (request ${requestId})`;
    super(`${response.status} ${code}: ${[message, ...faults].join('; ')}${request}`);
    this.status = response.status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.resourceId = resourceId;
    this.body = body;
  }
}

interface Read {
  code: PaymentsErrorCode;
  message: string;
  details: PaymentsErrorDetail[];
  resourceId: string | null;
}

function read({ status }: Response, body: unknown): Read {
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
  const message = status < 400 ? 'The answer has no body' : 'The answer is not one of the service';
  return { code: 'unknown', message, details: [], resourceId: null };
}

const isError = (body: unknown): body is Schemas['Error'] & Partial<Schemas['ConflictError']> =>
  isObject(body) && body.type === 'error' && typeof body.code === 'string' && Array.isArray(body.details);

const isValidationError = (body: unknown): body is Schemas['ValidationError'] =>
  isObject(body) && Array.isArray(body.detail);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

interface AnyResult {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws a PaymentsError when it is not a success. */
export function unwrap<Result extends AnyResult>(
  result: Result,
): Exclude<Extract<Result, { error?: never }>['data'], undefined>;
export function unwrap({ data, error, response }: AnyResult): unknown {
  // Not `error`: that of an answer without a body is undefined.
  if (!response.ok || data === undefined) throw new PaymentsError(response, error);
  return data;
}
