// The error class that handlers and pipeline steps throw, and the body that callers see. Codes, statuses and messages come
// from the contract: `message` depends on the status only, `details` says what exactly is wrong.
import { errors } from '../../generated/operations.ts';

export interface Detail {
  location: 'body' | 'query' | 'path' | 'header';
  pointer: string;
  message: string;
  type: string;
}

export interface Unprocessable {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** The body of a 422 has no code; this one is used only inside the service. */
const catalogue = { ...errors, unprocessable: { status: 422, message: '' } } as const;

export type ErrorCode = keyof typeof catalogue;

interface Facts {
  /** Is logged, and never shown to the caller. */
  reason?: string;
  details?: Detail[];
  detail?: Unprocessable[];
  resourceId?: string | null;
  headers?: Record<string, string>;
  cause?: unknown;
}

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly facts: Facts;

  constructor(code: ErrorCode, facts: Facts = {}) {
    super(facts.reason ?? code, { cause: facts.cause });
    this.code = code;
    this.status = catalogue[code].status;
    this.facts = facts;
  }
}

export function errorBody(code: ErrorCode, facts: Facts = {}) {
  if (code === 'unprocessable') return { detail: facts.detail ?? [] };
  const { status, message } = catalogue[code];
  const body = { type: 'error', code, status, message, details: facts.details ?? [] };
  return status === 409 ? { ...body, resource_id: facts.resourceId ?? null } : body;
}
