// The one class that handlers and pipeline steps throw, and the body that a caller is shown. Codes, statuses and messages
// come from the contract; `message` is the specification's default of the status, what exactly is wrong is in `details`.
import { errors } from '../generated/operations.ts';

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

/** 422 has a body of its own, without a code: the name is for our code only. */
const catalogue = { ...errors, unprocessable: { status: 422, message: '' } } as const;

export type ErrorCode = keyof typeof catalogue;

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
