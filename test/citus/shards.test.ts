// Only on a cluster of Citus. What one account asks for is answered by one shard: then an account is served by one server,
// however many there are. CITUS_ROWS=1000000 prints the times of a page with so many rows, beside those of plain PostgreSQL.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase, type Database, type Db } from '../../server/store/database.ts';
import { migrate } from '../../server/store/migrate.ts';
import { conditionsOf, type TransactionFilters } from '../../server/store/transaction-filters.ts';
import { transactionRange } from '../../server/store/transaction-list.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';
import { createAccount } from '../support/records.ts';
import { seedSql } from '../support/transactions.ts';

let database: Database;

beforeAll(async () => {
  if (!inject('cluster').isCitus) throw new Error('TEST_CITUS_URL is no coordinator of Citus.');
  database = openDatabase(await createTestDatabase(), (error) => {
    throw error;
  });
});

afterAll(() => database.close());
