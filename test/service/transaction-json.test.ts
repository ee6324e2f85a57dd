// A list sends transactions as PostgreSQL writes them; events and commands show them as presentTransaction does. Both derive
// from one table (server/resources/transactions/table.ts), and must say the same.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { listTransactionPage } from '../../server/resources/transactions/list.ts';
import { presentTransaction } from '../../server/resources/transactions/table.ts';
import { createTestDatabase } from '../support/database.ts';
import { createAccount, insertTransactions } from '../support/records.ts';
import { caseOf } from '../support/transactions.ts';

const count = 1_000;

let database: Database;
beforeAll(async () => {
  const url = await createTestDatabase();
  const fail = (error: Error) => {
    throw error;
  };
  const before = openDatabase(url, fail, { size: 1 });
  const name = sql.id(new URL(url).pathname.slice(1));
  // The time zone of a session must not matter.
  await sql`alter database ${name} set timezone to 'Asia/Kathmandu'`.execute(before.db);
  await before.close();
  database = openDatabase(url, fail, { size: 2 });
  await createAccount(database.db, { id: 'default', display_name: 'Default' });
});
afterAll(() => database.close());

/** Any character that can be stored: quotes, backslashes, control characters, and those of two UTF-16 units. */
const text = fc.string({ unit: 'binary', maxLength: 20 }).map((given) => given.replaceAll('\0', ''));
const times = ['0000-01-01T00:00:00.000Z', '0000-12-31T23:59:59.999Z', '0001-01-01T00:00:00.000Z'].concat([
  '1969-12-31T23:59:59.999Z',
  '2026-02-28T23:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
]);
const edges = fc.record({
  created_at: fc.constantFrom(...times),
  updated_at: fc.constantFrom(...times),
  amount: fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER),
  external_identifier: fc.option(text),
  raw_response_description: fc.option(text),
  settled_currency: fc.option(fc.constantFrom('EUR', 'USD')),
});

it(`${count} transactions`, async () => {
  const given = fc.sample(
    fc.tuple(caseOf('default'), fc.option(edges)).map(([one, edge]) => ({ ...one.given, ...edge })),
    { numRuns: count },
  );
  const known = new Map(given.map((one) => [one.id, one]));
  const unique = [...known.values()];
  expect(await insertTransactions(database.db, unique)).toEqual([]);
  const rows = await database.db.selectFrom('transactions').selectAll().execute();
  const presented = new Map(rows.map((row) => [row.id, presentTransaction(row)]));

  const seen = new Set<string>();
  let cursor: { createdAt: Date; id: string; direction: 'next' } | undefined;
  do {
    const page = await listTransactionPage(database.db, { only: ['default'] }, {}, { limit: 500, cursor });
    for (const { id, json } of page.rows) {
      const sent: unknown = JSON.parse(json.toString());
      // `toEqual` is slow, so it only says what differs.
      if (!isDeepStrictEqual(sent, presented.get(id))) expect(sent).toEqual(presented.get(id));
      seen.add(id);
    }
    cursor = page.next && { ...page.next, direction: 'next' };
  } while (cursor);
  expect(seen.size).toBe(presented.size);
});
