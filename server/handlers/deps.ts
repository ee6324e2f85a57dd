// What a handler receives in addition to its input, and what several handlers do with it. Handlers know nothing of Express:
// (input, deps) → {status, body}. The type says whether an operation writes: only WriteDeps has units of work, and a change takes one.
import type { OperationId } from '../../generated/operations.ts';
import type { OwnDeps } from '../domain.ts';
import type { Result } from '../kit/contract/handler-types.ts';
import type { Db } from '../kit/database/database.ts';
import type { Page, PageRequest } from '../kit/database/paging.ts';
import { ApiError, type Unprocessable } from '../kit/errors.ts';
import type { Writes } from '../kit/http/answer.ts';
import { onceFor, type Accounts, type Selection } from '../kit/rules/accounts.ts';
import {
  cursorBinding,
  foreignCursor,
  givenCursor,
  pageCursors,
  type CursorCodec,
} from '../kit/rules/cursor.ts';
import type { KeysOf } from '../kit/secrets/digest-keys.ts';
import type { Vault } from '../kit/secrets/vault.ts';

export interface Deps extends OwnDeps {
  db: Db;
  environment: 'sandbox' | 'production';
  cursors: CursorCodec;
  vault: Vault;
  keysOf: KeysOf;
  publicUrl: string;
  now: () => Date;
  /** `X-Request-ID`, also for providers. */
  requestId: string;
  caller: { keyPairId: string; accounts: Accounts };
  /** Whether token and roles of the caller allow this operation too. */
  mayCall: (id: OperationId) => boolean;
  selection: Selection;
  /** The contract's own example answer, for operations that are designed but not built yet. */
  example: <Id extends OperationId>(id: Id) => Result<Id>;
  /** Logs faults that the caller does not see, such as a provider that failed, with request and account. */
  warn: (message: string, facts: { err: unknown } & Record<string, unknown>) => void;
}

export interface WriteDeps extends Deps, Writes {}

/** The account of an operation whose contract says `x-merchant-scope: one`. */
export function accountOf({ selection }: Pick<Deps, 'selection'>): string {
  if (selection.kind !== 'one') throw new Error('This operation acts on one merchant account.');
  return selection.id;
}

export function accountsOf({ selection }: Pick<Deps, 'selection'>): Accounts {
  if (selection.kind === 'none') throw new Error('This operation is about no merchant account.');
  return selection.kind === 'one' ? { only: [selection.id] } : selection.accounts;
}

function selectionKey(selection: Selection): string {
  if (selection.kind === 'none') return '';
  if (selection.kind === 'one') return `one:${selection.id}`;
  return selection.accounts === 'all' ? '["all"]' : keyOf(selection.accounts.only);
}

const keyOf = onceFor((accounts) => JSON.stringify(['all', ...[...accounts].sort()]));

interface Filtered {
  faults?: readonly Unprocessable[] | undefined;
  spell?: (name: string, value: unknown) => unknown;
}

interface PageQuery {
  limit: number;
  cursor?: string | undefined;
}

/**
 * All of the query but its limit and cursor are filters. A cursor is bound to them, as `spell` writes them: values that mean the same
 * should be spelled in one way. `faults` is what cannot be processed in them.
 */
export async function readPage<Row, Query extends PageQuery>(
  list: OperationId,
  query: Query,
  deps: Pick<Deps, 'selection' | 'cursors'>,
  read: (page: PageRequest, filters: Omit<Query, keyof PageQuery>) => Promise<Page<Row>>,
  { faults = [], spell = (_name, value) => value }: Filtered = {},
) {
  const { limit, cursor: text, ...filters } = query;
  const given = givenCursor(text);
  const boundTo = cursorBinding(list, selectionKey(deps.selection), filters, spell);
  const cursor = given === undefined ? undefined : deps.cursors.decode(given, boundTo);
  const detail = given !== undefined && !cursor ? [foreignCursor, ...faults] : [...faults];
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  const { rows, ...around } = await read({ limit, cursor }, filters);
  return { rows, envelope: { limit, ...pageCursors(deps.cursors, around, boundTo) } };
}
