// What a handler receives in addition to its input. Handlers know nothing of Express: (input, deps) → {status, body}. The
// type says whether an operation writes: only WriteDeps has units of work, and a change takes one.
import type { OperationId, Result } from '../../generated/operations.ts';
import type { KeysOf } from '../secrets/digest-keys.ts';
import type { UnitOfWork } from '../database/unit-of-work.ts';
import type { CursorCodec } from '../rules/cursor.ts';
import type { Vault } from '../secrets/vault.ts';
import type { Providers } from '../providers/index.ts';
import type { Db } from '../database/database.ts';

/** The merchant account that a request is about; `all` is every one that the caller can reach. */
export type Selection = { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'all' };

export interface Deps {
  /** For reads outside of a unit of work. */
  db: Db;
  /** Whether merchant accounts are spread over several servers (Citus). */
  isSharded: boolean;
  environment: 'sandbox' | 'production';
  cursors: CursorCodec;
  vault: Vault;
  keysOf: KeysOf;
  /** Never called inside a unit of work. */
  providers: Providers;
  publicUrl: string;
  now: () => Date;
  caller: { keyPairId: string; merchantAccountIds: readonly string[] };
  /** Whether token and roles of the caller allow this operation too. */
  mayCall: (id: OperationId) => boolean;
  selection: Selection;
  /** The contract's own example answer, for operations that are designed but not built yet. */
  example: <Id extends OperationId>(id: Id) => Result<Id>;
  /** Logs faults that the caller does not see, such as a provider that failed, with request and account. */
  warn: (message: string, facts: { err: unknown; paymentMethod: string }) => void;
}

/** What a handler returns, of any operation. */
export interface AnyAnswer {
  status: number;
  /** Undefined if the contract declares the response without content. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface WriteDeps extends Deps {
  /** Holds the answer against the contract before it commits. A handler returns it as it is: the lint refuses `await`. */
  inUnitOfWork: <Answer extends AnyAnswer>(work: (unit: UnitOfWork) => Promise<Answer>) => Promise<Answer>;
}

/** The account of an operation whose contract says `x-merchant-scope: one`. */
export function accountOf({ selection }: Pick<Deps, 'selection'>): string {
  if (selection.kind !== 'one') throw new Error('This operation acts on one merchant account.');
  return selection.id;
}
