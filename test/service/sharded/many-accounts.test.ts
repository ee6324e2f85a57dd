// What a key pair with many accounts is shown: every row of its own accounts, and none of another. Up to 20 accounts, up to 100, and more
// are asked for in different ways.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '../../support/database.ts';
import { insertTransactions } from '../../support/records.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { transaction } from '../../support/transactions.ts';

const count = 102;
const accounts = Array.from({ length: count }, (_, index) => `many-${index}`);

let service: TestService;
const run = (text: string) => query(service.config.databaseUrl ?? '', text);

beforeAll(async () => {
  service = await startTestService({ config: { webhookWorker: false } });
  const each = `from generate_series(0, ${count - 1}) as n`;
  await run(`insert into merchant_accounts (id, display_name) select 'many-' || n, 'Many' ${each}`);
  const given = [...accounts, ...accounts].map((account) => transaction({ merchant_account_id: account }));
  await insertTransactions(service.service.database.db, given);
  await run(`insert into webhook_subscriptions (merchant_account_id, active, url, secret_sealed)
    select 'many-' || n, true, 'https://shop.example/', 'sealed' ${each} union all select null, true, 'https://shop.example/', 'sealed'`);
  await run(`insert into api_key_pairs (thumbprint, display_name, algorithm, public_key)
    select 'many-' || n, 'Many', 'ECDSA', 'x' ${each}`);
  // Of its own account, and every third of the one before, too.
  await run(`insert into api_key_pair_merchant_accounts (api_key_pair_id, merchant_account_id)
    select id, thumbprint from api_key_pairs where thumbprint like 'many-%' union all
    select id, 'many-' || n - 1 from api_key_pairs join generate_series(3, ${count - 1}, 3) as n on thumbprint = 'many-' || n`);
});
afterAll(() => service[Symbol.asyncDispose]());

interface Page {
  items: { id: string }[];
  next_cursor: string | null;
}

async function shown(path: string, token: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = '';
  do {
    const { status, body } = await service.call('GET', `${path}?limit=100${cursor && `&cursor=${cursor}`}`, {
      token,
      headers: { 'X-Service-Merchant-Account-ID': '*' },
    });
    expect(status).toBe(200);
    const page = body as Page;
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

interface Row {
  id: string;
  accounts: string[];
}

it.each(
  Object.entries({
    '/transactions': 'select id, array[merchant_account_id] as accounts from transactions',
    '/webhook-subscriptions': 'select id, array[merchant_account_id] as accounts from webhook_subscriptions',
    '/api-key-pairs': `select id, array(select merchant_account_id from api_key_pair_merchant_accounts
      where api_key_pair_id = api_key_pairs.id) as accounts from api_key_pairs`,
  }),
)('%s has the rows of 20, 21 and 101 accounts, and no others', async (path, everything) => {
  for (const number of [20, 21, 101]) {
    const own = new Set(accounts.slice(0, number));
    const pair = await service.pair({ accounts: [...own] });
    const rows = (await run(everything)) as unknown as Row[];
    const isOwn = (row: Row) => row.accounts.length > 0 && row.accounts.every((account) => own.has(account));
    const wanted = rows.filter(isOwn);
    expect(wanted.length).toBeGreaterThanOrEqual(number);
    const ids = await shown(path, pair.token('*.read'));
    const others = rows.filter((row) => ids.includes(row.id) && !isOwn(row));
    const missing = wanted.filter(({ id }) => !ids.includes(id));
    expect({ number, others, missing, rows: ids.length }).toEqual({
      number,
      others: [],
      missing: [],
      rows: wanted.length,
    });
  }
});
