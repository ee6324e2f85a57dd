// The catalogue of error codes, and the one class that handlers and pipeline steps throw. Imports nothing.
// `message` of an answer is the specification's default for its status, always; what exactly is wrong stands in details.

export interface Detail {
  location: 'body' | 'query' | 'path';
  pointer: string;
  message: string;
  type: string;
}

export interface Unprocessable {
  loc: (string | number)[];
  msg: string;
  type: string;
}

export const catalogue = {
  400: { code: 'bad_request', message: 'Generic error' },
  401: { code: 'unauthorized', message: 'No valid API authentication found' },
  403: { code: 'forbidden', message: 'Generic error' },
  404: { code: 'not_found', message: 'The resource could not be found' },
  405: { code: 'method_not_allowed', message: 'Method Not Allowed' },
  409: { code: 'duplicate_record', message: 'Generic error' },
  422: { code: 'unprocessable', message: 'Generic error' },
  425: { code: 'too_early', message: 'Generic error' },
  429: { code: 'too_many_requests', message: 'Generic error' },
  500: { code: 'server_error', message: 'Request could not be processed' },
  502: { code: 'bad_gateway', message: 'Request could not be processed' },
  504: { code: 'gateway_timeout', message: 'Request could not be processed' },
} as const;

export type ErrorStatus = keyof typeof catalogue;

interface Facts {
  /** For the log, never for the caller. */
  reason?: string;
  details?: Detail[];
  detail?: Unprocessable[];
  resourceId?: string | null;
  headers?: Record<string, string>;
  cause?: unknown;
}

export class ApiError extends Error {
  readonly status: ErrorStatus;
  readonly facts: Facts;

  constructor(status: ErrorStatus, facts: Facts = {}) {
    super(facts.reason ?? catalogue[status].code, { cause: facts.cause });
    this.status = status;
    this.facts = facts;
  }
}

export function errorBody(status: ErrorStatus, facts: Facts = {}) {
  if (status === 422) return { detail: facts.detail ?? [] };
  const { code, message } = catalogue[status];
  const body = { type: 'error', code, status, message, details: facts.details ?? [] };
  return status === 409 ? { ...body, resource_id: facts.resourceId ?? null } : body;
}
