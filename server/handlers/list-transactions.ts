import type { Handler, Result } from '../../generated/operations.ts';
import { cursorBinding, pageCursors, readCursor } from '../domain/cursor.ts';
import { readMetadataFilter } from '../domain/metadata-filter.ts';
import { accountsOf, selectionKey, type Deps } from './deps.ts';

export const listTransactions: Handler<'listTransactions', Deps> = async (
  { query },
  deps,
): Promise<Result<'listTransactions'>> => {
  const { store, cursors } = deps;
  const { limit, cursor: given, metadata, ...filters } = query;
  const wanted = metadata && readMetadataFilter(metadata);
  const boundTo = cursorBinding('listTransactions', selectionKey(deps), query);
  const cursor = readCursor(cursors, given, boundTo);
  const page = await store.listTransactionPage(
    accountsOf(deps),
    { ...filters, metadata: wanted },
    { limit, cursor },
  );
  return { status: 200, body: { items: page.rows, limit, ...pageCursors(cursors, page, boundTo) } };
};
