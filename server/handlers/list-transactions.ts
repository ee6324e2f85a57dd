import type { Handler, ResultAsJson } from '../kit/contract/handler-types.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { canonicalFilter, readMetadataFilter } from '../resources/transactions/metadata-filter.ts';
import { accountsOf, readPage, type Deps } from './deps.ts';

export const listTransactions: Handler<'listTransactions', Deps> = async (
  { query },
  deps,
): Promise<ResultAsJson<'listTransactions'>> => {
  const metadata = query.metadata && readMetadataFilter(query.metadata);
  const { rows, envelope } = await readPage(
    'listTransactions',
    query,
    deps,
    (page, given) => {
      const filters = { ...given, metadata: metadata?.required };
      return listTransactionPage(deps.db, accountsOf(deps), filters, page);
    },
    { faults: metadata?.faults, spell: canonicalFilter },
  );
  return { status: 200, body: { items: rows, ...envelope } };
};
