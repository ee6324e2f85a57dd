// What every handler receives beside its input. Handlers know nothing of Express: (input, deps) → {status, body}.
import type { OperationId, Result } from '../../generated/operations.ts';
import type { CursorCodec } from '../domain/cursor.ts';
import type { Store } from '../store/index.ts';

export interface Deps {
  /** Bound to the request's transaction, if it is a write. */
  store: Store;
  cursors: CursorCodec;
  publicUrl: string;
  now: () => Date;
  caller: { keyPairId: string; merchantAccountIds: readonly string[] };
  /** The merchant account to act upon; `all` is every one that the caller reaches. */
  selection: { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'all' };
  /** The contract's own example answer, for operations that are designed but not built yet. */
  example: <Id extends OperationId>(id: Id) => Result<Id>;
}
