// Migrations that run while older instances serve, in steps that can be interrupted.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../server/store/migrations/index.ts';
import { briefly, buildIndex, inBatches, type ServiceMigration } from '../../server/store/online.ts';
import { eventually } from '../support/data-dir.ts';
import { appliedTo, createEmptyDatabase, createTestDatabase, withClient } from '../support/database.ts';
import { migrateStore } from '../support/migrate.ts';

const index = { name: 'numbers_once', table: 'numbers', isUnique: true, on: '(number)' };
const build: ServiceMigration = { online: (online) => buildIndex(online, index) };

let url: string;
const added = new Set<string>();
const add = (name: string, migration: ServiceMigration) => {
  migrations[name] = migration;
  added.add(name);
};

beforeEach(async () => {
  url = await createTestDatabase();
  await run('create table numbers (number integer, done boolean not null default false)');
  await run('insert into numbers select generate_series(1, 100)');
});
afterEach(() => {
  for (const name of added) Reflect.deleteProperty(migrations, name);
  added.clear();
});

const run = (text: string) =>
  withClient(url, async (client) => (await client.query<pg.QueryResultRow>(text)).rows);
const findIndex = () =>
  run(`select indexrelid, indisvalid from pg_index where indexrelid = to_regclass('numbers_once')`);

const open = (databaseUrl = url) => migrateStore(databaseUrl);

async function connect(): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

const isWaiting = (what: string) => async () =>
  (
    await run(`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '${what}%'`)
  ).length > 0;

describe('an online migration', () => {
  it('runs outside of a transaction, after those before it and before those after it', async () => {
    const seen: unknown[] = [];
    const look = async (db: Kysely<unknown>) => {
      const transaction = async () =>
        (await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(db)).rows[0]?.id;
      const { rows } = await sql<{ name: string }>`
        select name from kysely_migration where name > '9' order by name`.execute(db);
      const isOutside = (await transaction()) !== (await transaction());
      seen.push({ applied: rows.map(({ name }) => name), isOutside });
    };
    add('9990-before', { up: look });
    add('9991-online', { online: ({ db }) => look(db) });
    add('9992-after', { up: look });
    add('9993-online', { online: ({ db }) => look(db) });
    const names = [...added];
    expect((await open()).migrated).toEqual(names);
    expect(seen).toEqual([
      { applied: [], isOutside: false },
      { applied: names.slice(0, 1), isOutside: true },
      { applied: names.slice(0, 2), isOutside: false },
      { applied: names.slice(0, 3), isOutside: true },
    ]);
    expect((await open()).migrated).toEqual([]);
  });

  it('is done once by several instances that start at once', async () => {
    let times = 0;
    add('9991-online', {
      online: async (online) => {
        times += 1;
        await buildIndex(online, index);
      },
    });
    const opened = await Promise.all([open(), open(), open()]);
    expect(opened.flatMap(({ migrated }) => migrated)).toEqual(['9991-online']);
    expect(times).toBe(1);
  });

  it('says what it does', async () => {
    add('9991-online', build);
    expect((await open()).messages).toEqual([
      'migrating the database: 9991-online',
      'building the index numbers_once',
      expect.stringMatching(/^built the index numbers_once in \d+\.\d s$/),
    ]);
  });

  it('is part of the one transaction that creates a new database, and says nothing', async () => {
    add('9990-before', {
      up: async (db) => {
        await sql`create table numbers as select 1 as number`.execute(db);
      },
    });
    add('9991-online', {
      online: async (online) => {
        expect(online.isFresh).toBe(true);
        await buildIndex(online, index);
        await briefly(online, 'numbers', async (tx) => {
          await sql`alter table numbers add column more integer`.execute(tx);
        });
      },
    });
    const { migrated, messages } = await open(await createEmptyDatabase());
    expect(migrated).toEqual(Object.keys(migrations));
    expect(messages).toEqual([]);
  });

  it('keeps what was done before it failed, and goes on from there at the next start', async () => {
    let isBroken = true;
    add('9990-before', {
      up: async (db) => {
        await sql`create table before ()`.execute(db);
      },
    });
    add('9991-online', {
      online: async (online) => {
        await inBatches(online, 'numbers', async (tx) => {
          const { rows } = await sql<{ left: number }>`
            with batch as (select ctid from numbers where not done limit 30)
            update numbers set done = true from batch where numbers.ctid = batch.ctid returning number`.execute(
            tx,
          );
          if (isBroken && rows.length < 30) throw new Error('killed');
          return rows.length;
        });
      },
    });
    await expect(open()).rejects.toThrow(/^Migration \S+ failed: killed\.$/);
    expect(await appliedTo(url)).toContain('9990-before');
    expect(await run('select count(*)::integer as left from numbers where not done')).toEqual([{ left: 10 }]);
    isBroken = false;
    const { migrated, messages } = await open();
    expect(migrated).toEqual(['9991-online']);
    expect(messages.at(-1)).toMatch(/^numbers: done, 10 rows in /);
  });
});

describe('a migration that fails', () => {
  it('is named, and leaves nothing behind', async () => {
    add('9990-before', {
      up: async (db) => {
        await sql`create table before ()`.execute(db);
      },
    });
    add('9991-broken', {
      up: async (db) => {
        await sql`alter table numbers add column tier varchr`.execute(db);
      },
    });
    await expect(open()).rejects.toThrow(
      'Migration 9991-broken failed: type "varchr" does not exist. Nothing of it was applied: correct it and start again.',
    );
    expect(await appliedTo(url)).not.toContain('9990-before');
  });

  it('is shown with its line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
    const file = join(folder, 'server/store/migrations/9990-broken.ts');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "export async function up() {\n  await null;\n  throw new Error('broken');\n}\n");
    add('9990-broken', (await import(file)) as ServiceMigration);
    await expect(open()).rejects.toThrow(
      'Migration 9990-broken failed (server/store/migrations/9990-broken.ts:3): broken. Nothing',
    );
    await rm(folder, { recursive: true });
  });
});

describe('an index', () => {
  it('that an interrupted build left invalid is built anew', async () => {
    await run('insert into numbers values (7)');
    add('9991-online', build);
    await expect(open()).rejects.toThrow('could not create unique index');
    expect(await findIndex()).toMatchObject([{ indisvalid: false }]);
    await run('delete from numbers where ctid = (select max(ctid) from numbers where number = 7)');
    await open();
    expect(await findIndex()).toMatchObject([{ indisvalid: true }]);
  });

  it('that PostgreSQL still builds for a process that is gone is waited for', async () => {
    await using reader = await connect();
    await using builder = await connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from numbers');
    const building = builder.query('create unique index concurrently numbers_once on numbers (number)');
    await eventually(isWaiting('create unique index'), 'the build waits for the reader');
    add('9991-online', build);
    const opening = open();
    await eventually(isWaiting('lock table numbers'), 'the start waits for the build');
    const [before] = await findIndex();
    await reader.query('rollback');
    await building;
    expect((await opening).messages).toEqual(['migrating the database: 9991-online']);
    expect(await findIndex()).toEqual([{ ...before, indisvalid: true }]);
  });

  describe('that another session is about to mark as valid', () => {
    const mark = (isValid: boolean) =>
      `update pg_index set indisvalid = ${isValid} where indexrelid = 'numbers_once'::regclass`;
    beforeEach(async () => {
      await run('create unique index numbers_once on numbers (number)');
      await run(mark(false));
      add('9991-online', build);
    });
    const hasLooked = async () =>
      (
        await run(`select from pg_stat_activity
        where datname = current_database() and state = 'idle' and query like '%query ilike%'`)
      ).length > 0;
    const expectKept = async (opening: ReturnType<typeof open>) => {
      expect((await opening).messages).toEqual(['migrating the database: 9991-online']);
      expect(await findIndex()).toMatchObject([{ indisvalid: true }]);
    };

    it('is waited for, if that session builds it', async () => {
      await using blocker = await connect();
      await using builder = await connect();
      await blocker.query('select pg_advisory_lock(1)');
      await builder.query(`begin; ${mark(true)}`);
      const committing = builder.query(
        `create table other (); /* index concurrently numbers_once on */ select pg_advisory_lock(1); commit`,
      );
      const opening = open();
      await eventually(hasLooked, 'the start has seen that the index is built');
      await blocker.query('select pg_advisory_unlock(1)');
      await committing;
      await expectKept(opening);
    });

    it('is looked at again, whoever it was', async () => {
      await using other = await connect();
      await other.query(`begin; ${mark(true)}`);
      const opening = open();
      await eventually(isWaiting('drop index concurrently'), 'the start wants to drop what is unfinished');
      await other.query('commit');
      await expectKept(opening);
    });
  });
});

it('a change that needs an exclusive lock gives way to others while it waits', async () => {
  await using long = await connect();
  await using reader = await connect();
  await long.query('begin');
  await long.query('select from numbers');
  add('9991-online', {
    online: (online) =>
      briefly(online, 'numbers', async (tx) => {
        await sql`alter table numbers add column if not exists more integer`.execute(tx);
      }),
  });
  const opening = open();
  await eventually(isWaiting('alter table numbers'), 'the change waits');
  // Without a limit this would wait for the end of the long transaction.
  await reader.query('select from numbers');
  await eventually(isWaiting('alter table numbers'), 'the change tries again');
  await long.query('rollback');
  expect((await opening).migrated).toEqual(['9991-online']);
});
