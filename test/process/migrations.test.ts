// How migrations are applied, and an instance of this version beside a later one, which has migrated the database.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql, type Kysely } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { openReadyDatabase } from '../../server/database.ts';
import { openDatabase } from '../../server/kit/database/database.ts';
import type { Migrations } from '../../server/kit/database/migrate.ts';
import * as kit from '../../server/kit/database/open.ts';
import { reasonOf } from '../../server/kit/faults.ts';
import { kitMigrations } from '../../server/kit/migrations/index.ts';
import { digests, migrations } from '../../server/migrations/index.ts';
import { recordNumbers } from '../../server/resources/number-limits/queries.ts';
import {
  appliedTo,
  createEmptyDatabase,
  createTestDatabase,
  query,
  withClient,
} from '../support/database.ts';
import { createAccount, createTransactions } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';

const names = Object.keys(migrations);

async function start(databaseUrl: string) {
  const options = { databaseUrl, dataDir: '/nowhere', log: () => undefined, size: 2 };
  const store = await openReadyDatabase({ ...options, environment: 'sandbox' });
  await store.close();
  return store.migrated;
}

it('a start that migrates says so, once', async () => {
  const databaseUrl = await createEmptyDatabase();
  const saysSo = async () => {
    await using service = await startTestService({ config: { databaseUrl, environment: 'production' } });
    const lines = service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    return lines.filter(({ msg }) => msg === 'the database was migrated');
  };
  expect(await saysSo()).toEqual([expect.objectContaining({ migrations: names.length, last: names.at(-1) })]);
  expect(await saysSo()).toEqual([]);
});

it('a migration that fails is named, and leaves nothing behind; corrected, it is applied', async () => {
  const databaseUrl = await createEmptyDatabase();
  await start(databaseUrl);
  migrations['9998-broken'] = {
    up: async (db) => {
      await sql`create table left_behind (id int)`.execute(db);
      await sql`select nothing from nowhere`.execute(db);
    },
  };
  try {
    await expect(start(databaseUrl)).rejects.toThrow(
      /^Migration 9998-broken failed.*: relation "nowhere" does not exist\. Nothing of it was applied/,
    );
    expect(await appliedTo(databaseUrl)).toEqual(names);
    migrations['9998-broken'].up = async (db) => {
      await sql`create table left_behind (id int)`.execute(db);
    };
    expect(await start(databaseUrl)).toEqual(['9998-broken']);
  } finally {
    delete migrations['9998-broken'];
  }
});

it.each([
  ['0001-schema', 'relation "settings" already exists'],
  ['0003-number-buckets', 'relation "number_buckets" already exists'],
  ['0004-events-for-one', 'column "is_for_all" of relation "events" already exists'],
  ['0005-updated-after-created', 'index "transactions_updated_early" does not exist'],
  ['0008-all-accounts', 'column "all_accounts" of relation "api_key_pairs" already exists'],
])('%s, applied and not recorded: the start names the guide, and what to record', async (name, reason) => {
  const databaseUrl = await createTestDatabase();
  await query(databaseUrl, `delete from applied_migrations where name = '${name}'`);
  const message = await start(databaseUrl).then(
    () => 'It started.',
    (error: unknown) => reasonOf(error),
  );
  expect(message).toMatch(new RegExp(`^Migration ${name} failed.*: ${reason}\\. `));
  expect(message).not.toContain('correct it');
  expect(message).toContain('see "A migration that is not recorded" in docs/guides/operator.md.');
  expect(message).not.toMatch(/insert into/i);
  const [, inGuide = ''] =
    /-c "(insert into applied_migrations .*)"/.exec(await readFile('docs/guides/operator.md', 'utf8')) ?? [];
  const [, digestInMessage = ''] = /with digest (\w+)/.exec(message) ?? [];
  await query(databaseUrl, inGuide.replace('NAME', name).replace('DIGEST', digestInMessage));
  expect(await start(databaseUrl)).toEqual([]);
  const digest = `select digest from applied_migrations where name = '${name}'`;
  expect(await query(databaseUrl, digest)).toEqual([{ digest: digests[name] }]);
});

it('a database starts, whatever the files of its migrations were when it applied them', async () => {
  const databaseUrl = await createTestDatabase();
  await query(databaseUrl, `update applied_migrations set digest = 'old'`);
  expect(await start(databaseUrl)).toEqual([]);
});

it('0008: is applied again after the restore of a backup of 1.1.0 with pg_restore --clean, which leaves its function', async () => {
  const databaseUrl = await createTestDatabase();
  await query(databaseUrl, 'drop trigger api_key_pair_has_accounts on api_key_pair_merchant_accounts');
  await query(databaseUrl, 'alter table api_key_pairs drop column all_accounts');
  await query(databaseUrl, `delete from applied_migrations where name = '0008-all-accounts'`);
  expect(await start(databaseUrl)).toEqual(['0008-all-accounts']);
});

it('0007: an index whose building was interrupted is built again, and one that waits for a change of cards gives up', async () => {
  const databaseUrl = await createTestDatabase();
  await query(databaseUrl, `delete from applied_migrations where name = '0007-cards-in-processing'`);
  await query(
    databaseUrl,
    `update pg_index set indisvalid = false where indexrelid = 'payment_methods_processing'::regclass`,
  );
  await withClient(databaseUrl, async (client) => {
    await client.query('begin; lock table payment_methods in row exclusive mode');
    await expect(start(databaseUrl)).rejects.toThrow('lock timeout');
    await client.query('rollback');
  });
  expect(await start(databaseUrl)).toEqual(['0007-cards-in-processing']);
  const valid = `select indisvalid from pg_index where indexrelid = 'payment_methods_processing'::regclass`;
  expect(await query(databaseUrl, valid)).toEqual([{ indisvalid: true }]);
});

/** A database without these migrations. */
async function createWithout(...names: (keyof typeof migrations)[]): Promise<string> {
  const databaseUrl = await createEmptyDatabase();
  const all = { ...migrations };
  for (const name of names) Reflect.deleteProperty(migrations, name);
  try {
    await start(databaseUrl);
  } finally {
    Object.assign(migrations, all);
  }
  return databaseUrl;
}

it('does not deadlock with an instance of 1.0.0 that stores an event', async () => {
  const names = Object.keys(migrations).slice(1);
  const databaseUrl = await createWithout(...names);
  await withClient(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`
      insert into events (id, name, merchant_account_id, body, created_at)
      values ('${randomUUID()}', 'transaction.created', 'default', '{}', now())`);
    const starting = start(databaseUrl);
    await withClient(databaseUrl, (other) =>
      vi.waitUntil(
        async () => {
          const { rows } = await other.query(`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
          return rows.length > 0;
        },
        { timeout: 20_000, interval: 20 },
      ),
    );
    // Its next statement, while the start waits for it.
    await client.query('lock table deliveries in row exclusive mode');
    await client.query('commit');
    expect(await starting).toEqual(names);
  });
});

it('0003-number-buckets: what was tried before still counts', async () => {
  const name = '0003-number-buckets';
  const databaseUrl = await createWithout(name);
  const at = new Date();
  const numbers = ['a', 'b', 'c'];
  await withClient(databaseUrl, (client) =>
    client.query(`insert into card_numbers select 'one', unnest($1::text[]), $2`, [numbers, at]),
  );
  expect(await start(databaseUrl)).toEqual([name]);
  const database = openDatabase(databaseUrl, () => undefined);
  const count = async (number: string) =>
    (await recordNumbers(database.db, [{ bucket: 'one', number }], { limit: 3, windowSeconds: 60 }))[0];
  expect(await count('a')).toBeUndefined();
  expect(await count('d')).toBeGreaterThan(0);
  await database.close();
});

it('0004-events-for-one: doctor judges only what is stored from now on, also by an instance of 1.0.0', async () => {
  const name = '0004-events-for-one';
  const databaseUrl = await createWithout(name);
  const insertOld = (id: string) =>
    withClient(databaseUrl, (client) =>
      client.query(`
        insert into events (id, name, merchant_account_id, body, created_at)
        values ('${id}', 'transaction.created', 'default', '{}', now())`),
    );
  const [before, after] = [randomUUID(), randomUUID()];
  await insertOld(before);
  expect(await start(databaseUrl)).toEqual([name]);
  await insertOld(after);
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query('select id, is_for_all from events order by created_at'),
  );
  expect(rows).toEqual([
    { id: before, is_for_all: false },
    { id: after, is_for_all: true },
  ]);
});

it('0008-all-accounts waits for a backup no longer than requests can wait behind it', async () => {
  const databaseUrl = await createWithout('0008-all-accounts');
  await withClient(databaseUrl, async (client) => {
    await client.query('begin; lock table api_key_pairs in access share mode');
    await expect(start(databaseUrl)).rejects.toThrow('Migration 0008-all-accounts failed');
    await client.query('commit');
  });
  expect(await start(databaseUrl)).toEqual(['0008-all-accounts']);
});

describe('0005-updated-after-created', () => {
  const name = '0005-updated-after-created';

  /** Two transactions, of which one was updated before it was created. */
  const createOld = async () => {
    const databaseUrl = await createWithout(name);
    const database = openDatabase(databaseUrl, () => undefined);
    await createAccount(database.db, { id: 'default', display_name: 'Default' });
    await createTransactions(database.db, [
      transaction({ updated_at: '2026-11-15T10:29:00.000Z' }),
      transaction({ updated_at: '2026-11-15T10:31:00.000Z' }),
    ]);
    await database.close();
    return databaseUrl;
  };
  const updates = (databaseUrl: string) =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ at: Date }>(
        'select updated_at as at from transactions order by updated_at',
      );
      return rows.map(({ at }) => at.toISOString());
    });

  it('a transaction that was updated before it was created was updated then', async () => {
    const databaseUrl = await createOld();
    expect(await start(databaseUrl)).toEqual([name]);
    expect(await updates(databaseUrl)).toEqual(['2026-11-15T10:30:00.000Z', '2026-11-15T10:31:00.000Z']);
  });

  it('waits for a backup no longer than requests can wait behind it', async () => {
    const databaseUrl = await createOld();
    await withClient(databaseUrl, async (client) => {
      await client.query('begin; lock table transactions in access share mode');
      await expect(start(databaseUrl)).rejects.toThrow(`Migration ${name} failed`);
      await client.query('commit');
    });
    expect(await updates(databaseUrl)).toEqual(['2026-11-15T10:29:00.000Z', '2026-11-15T10:31:00.000Z']);
    expect(await start(databaseUrl)).toEqual([name]);
  });
});

describe('beside a later version that has migrated the database', () => {
  it('an instance serves on, and starts again, which it logs', async () => {
    const databaseUrl = await createTestDatabase('furnished');
    const config = { databaseUrl };
    await using service = await startTestService({ config });
    migrations['9998-later'] = {
      up: async (db) => {
        await sql`alter table transactions add column later text`.execute(db);
      },
    };
    try {
      expect(await start(databaseUrl)).toEqual(['9998-later']);
    } finally {
      delete migrations['9998-later'];
    }
    const list = (one: typeof service) => one.call('GET', '/transactions', { token: one.token('*.read') });
    expect((await list(service)).status).toBe(200);
    await using restarted = await startTestService({ config });
    expect((await list(restarted)).status).toBe(200);
    expect((await fetch(`${restarted.url}/readyz`)).status).toBe(200);
    const newer = ({ logs }: typeof service) =>
      logs
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => msg === 'a newer version than this one has migrated the database');
    expect(newer(restarted)).toEqual([expect.objectContaining({ level: 30, last: '9998-later' })]);
    expect(newer(service)).toEqual([]);
    expect(await appliedTo(databaseUrl)).toEqual([...names, '9998-later']);
  });

  it.each(['0001-another', 'kit-0001-another'])(
    'a database with %s, which this version should know, is refused',
    async (name) => {
      const databaseUrl = await createEmptyDatabase();
      await start(databaseUrl);
      await query(databaseUrl, `insert into applied_migrations (name, digest) values ('${name}', '')`);
      await expect(start(databaseUrl)).rejects.toThrow(
        `has the migration ${name}, which this version does not have`,
      );
    },
  );
});

describe('the migrations of the kit are a series of their own', () => {
  const made = (name: string) => ({
    up: async (db: Kysely<unknown>) => {
      await sql`create table ${sql.table(name)} (id integer)`.execute(db);
    },
  });
  /** Of an API, at its first release and later. */
  const [first, second, own, later] = [made('kit_first'), made('kit_second'), made('own'), made('later')];
  const open = async (databaseUrl: string, given: Migrations['migrations'], contained = {}) => {
    const schema = { migrations: given, digests: {}, contained };
    const options = { databaseUrl, dataDir: '/nowhere', log: () => undefined, size: 2, schema };
    const opened = await kit.openReadyDatabase({ ...options, environment: 'sandbox' });
    await opened.close();
    return [opened.migrated, opened.newer];
  };

  it('an instance of an API leaves later ones of the kit alone, whose names come before its own', async () => {
    const databaseUrl = await createEmptyDatabase();
    const released = { ...kitMigrations, '0001-own': own };
    expect(await open(databaseUrl, released)).toEqual([Object.keys(released), undefined]);
    const next = { ...released, 'kit-9998-later': second, '0002-later': later };
    expect(await open(databaseUrl, next)).toEqual([['kit-9998-later', '0002-later'], undefined]);
    expect(await open(databaseUrl, released)).toEqual([[], 'kit-9998-later']);
  });

  it('one that goes on from what an API contains comes after it, also in a new database', async () => {
    const contained = { 'kit-0001-first': '0001-schema' };
    const given = { 'kit-0002-second': second, '0001-schema': first, '0002-own': own };
    const inOrder = ['0001-schema', 'kit-0002-second', '0002-own'];
    expect(await open(await createEmptyDatabase(), given, contained)).toEqual([inOrder, undefined]);
  });
});
