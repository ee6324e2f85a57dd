// What every handler receives beside its input. Handlers know nothing of Express: (input, deps) → {status, body}.
import type { OperationId, Result } from '../../generated/operations.ts';

export interface Deps {
  /** The contract's own example answer, for operations that are designed but not built yet. */
  example: <Id extends OperationId>(id: Id) => Result<Id>;
}
