// What handlers show of buyers: those of the merchant account, and no erased ones.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/database/database.ts';
import { findBuyer } from '../../server/resources/buyers/queries.ts';
import { createTestDatabase } from '../support/database.ts';
import { createAccount, createBuyer } from '../support/records.ts';

let database: Database;
beforeAll(async () => {
  database = openDatabase(await createTestDatabase(), (error) => {
    throw error;
  });
  for (const id of ['default', 'other']) await createAccount(database.db, { id, display_name: id });
});
afterAll(() => database.close());

it('a buyer is found by both identifiers, only in its merchant account, and until it is erased', async () => {
  const { db } = database;
  const { id } = await createBuyer(db, { external_identifier: 'jane' });
  const find = (account: string) =>
    Promise.all([findBuyer(db, account, { id }), findBuyer(db, account, { external_identifier: 'jane' })]);
  expect(await find('default')).toMatchObject([{ id }, { id }]);
  expect(await find('other')).toEqual([undefined, undefined]);
  await db.updateTable('buyers').set({ erased_at: new Date() }).where('id', '=', id).execute();
  expect(await find('default')).toEqual([undefined, undefined]);
});
