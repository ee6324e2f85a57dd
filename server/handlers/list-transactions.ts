import type { Handler, Result } from '../../generated/operations.ts';
import { readMetadataFilter } from '../rules/filters.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { accountsOf, readPage, type Deps } from './deps.ts';

export const listTransactions: Handler<'listTransactions', Deps> = async (
  { query },
  deps,
): Promise<Result<'listTransactions'>> => {
  const { limit, cursor, ...given } = query;
  const { metadata: texts, ...rest } = given;
  const metadata = texts && readMetadataFilter(texts);
  const filters = { ...rest, metadata: metadata?.required };
  const { rows, envelope } = await readPage(
    'listTransactions',
    { limit, cursor },
    deps,
    (page) => listTransactionPage(deps.db, accountsOf(deps), filters, { ...page, isSharded: deps.isSharded }),
    given,
    metadata?.faults,
  );
  return { status: 200, body: { items: rows, ...envelope } };
};
