// What every list does: read the cursor, ask for a page, sign the cursors of its neighbours.
import type { OperationId } from '../../generated/operations.ts';
import { cursorBinding, foreignCursor, givenCursor, pageCursors } from '../rules/cursor.ts';
import { ApiError, type Unprocessable } from '../errors.ts';
import type { Page, PageRequest } from '../database/paging.ts';
import type { Deps } from './deps.ts';

type Selecting = Pick<Deps, 'selection' | 'caller'>;

/** The accounts of a list, as queries want them: undefined is all. */
export function accountsOf({ selection, caller }: Selecting): readonly string[] | undefined {
  if (selection.kind === 'one') return [selection.id];
  return caller.merchantAccountIds.length === 0 ? undefined : caller.merchantAccountIds;
}

/** A cursor is bound to one merchant account, or to all that the caller can reach. */
function selectionKey({ selection, caller }: Selecting): string {
  if (selection.kind === 'none') return '';
  return selection.kind === 'one'
    ? `one:${selection.id}`
    : JSON.stringify([selection.kind, ...[...caller.merchantAccountIds].sort()]);
}

interface PageQuery {
  limit: number;
  cursor?: string | undefined;
}

/** The compiler prints it as the type that a filter should have had. */
type TakeItOut = 'A filter: take it out of the query, use it in `read`, and pass it as the last argument';

/** A list that ignores a filter lists everything. So a query with filters does not compile. */
type WithoutFilters<Query> = { [Name in Exclude<keyof Query, keyof PageQuery>]?: TakeItOut };

/** `filters` are what `read` filters by, because a cursor is bound to them; `faults` is what cannot be processed in them. */
export async function readPage<Row, Query extends PageQuery>(
  list: OperationId,
  query: Query & WithoutFilters<Query>,
  deps: Selecting & Pick<Deps, 'cursors'>,
  read: (page: PageRequest) => Promise<Page<Row>>,
  filters: Readonly<Record<string, unknown>> = {},
  faults: readonly Unprocessable[] = [],
) {
  const { limit } = query;
  const given = givenCursor(query.cursor);
  const boundTo = cursorBinding(list, selectionKey(deps), filters);
  const cursor = given === undefined ? undefined : deps.cursors.decode(given, boundTo);
  const detail = given !== undefined && !cursor ? [foreignCursor, ...faults] : [...faults];
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  const { rows, ...around } = await read({ limit, cursor });
  return { rows, envelope: { limit, ...pageCursors(deps.cursors, around, boundTo) } };
}
