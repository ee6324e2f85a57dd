import { listApiKeyPairPage } from '../kit/access/key-pairs/queries.ts';
import { presentApiKeyPair } from '../kit/access/key-pairs/table.ts';
import type { Handler, Result } from '../kit/contract/handler-types.ts';
import { readPage, type Deps } from './deps.ts';

export const listApiKeyPairs: Handler<'listApiKeyPairs', Deps> = async (
  { query },
  deps,
): Promise<Result<'listApiKeyPairs'>> => {
  const { rows, envelope } = await readPage('listApiKeyPairs', query, deps, (page) =>
    listApiKeyPairPage(deps.db, deps.caller.accounts, page),
  );
  return { status: 200, body: { items: rows.map(presentApiKeyPair), ...envelope } };
};
