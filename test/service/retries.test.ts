// Faults inside the database that changed nothing are repeated, as whole units of work; one that may have been committed never is.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database, type Tx } from '../../server/kit/database/database.ts';
import { inSnapshot, inWork } from '../../server/kit/database/unit-of-work.ts';
import { verifySimulatedCard } from '../../server/providers/simulated.ts';
import { card } from '../support/card.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startLossyDatabase } from '../support/lost-commit.ts';
import { startTestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';

let url: string;
let database: Database;
beforeAll(async () => {
  url = await createTestDatabase();
  database = openDatabase(url, () => undefined);
  await sql`create table counters (name text primary key, value integer not null)`.execute(database.db);
  await sql`insert into counters values ('one', 0), ('two', 0)`.execute(database.db);
});
afterAll(() => database.close());

const add = (tx: Tx, name: string) =>
  sql`update counters set value = value + 1 where name = ${name}`.execute(tx);
const valueOf = async (name: string) => {
  const { rows } = await sql<{ value: number }>`select value from counters where name = ${name}`.execute(
    database.db,
  );
  return rows[0]?.value;
};
/** Resolves when so many callers have arrived. Those that come later pass. */
function createMeeting(participants: number): () => Promise<void> {
  let arrived = 0;
  let open: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  return () => {
    arrived += 1;
    if (arrived === participants) open();
    return all;
  };
}

describe('a unit of work', () => {
  it('is repeated after a deadlock: two that lock two rows in opposite order both succeed', async () => {
    const before = await valueOf('one');
    const meet = createMeeting(2);
    let attempts = 0;
    const lock = (first: string, second: string) =>
      inWork(database.db, async ({ db }) => {
        attempts += 1;
        await add(db, first);
        await meet();
        await add(db, second);
      });
    await Promise.all([lock('one', 'two'), lock('two', 'one')]);
    expect(await valueOf('one')).toBe((before ?? 0) + 2);
    expect(attempts).toBeGreaterThan(2);
  });

  it('is repeated after a serialization failure, of which PostgreSQL has others than those of isolation levels', async () => {
    const before = (await valueOf('one')) ?? 0;
    let attempts = 0;
    const result = await inWork(database.db, async ({ db }) => {
      attempts += 1;
      await add(db, 'one');
      if (attempts === 1) await sql`do $$ begin raise serialization_failure; end $$`.execute(db);
      return attempts;
    });
    expect([result, attempts]).toEqual([2, 2]);
    expect(await valueOf('one')).toBe(before + 1);
  });

  it('leaves no open transaction to the next one, when the connection is given back inside of one', async () => {
    const single = openDatabase(url, () => undefined, { size: 1 });
    // As if its `begin` or `rollback` had been cancelled.
    const connection = await single.connect();
    await connection.query('begin');
    await expect(connection.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    connection.release();
    expect((await single.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await single.close();
  });

  it('that only reads sees one moment, and cannot write', async () => {
    const modes = await inSnapshot(database.db, async (tx) => {
      const { rows } = await sql`
        select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as reads`.execute(
        tx,
      );
      return rows;
    });
    expect(modes).toEqual([{ isolation: 'repeatable read', reads: 'on' }]);
  });

  it('is given up after a few attempts', async () => {
    let attempts = 0;
    const work = inWork(database.db, async ({ db }) => {
      attempts += 1;
      await sql`do $$ begin raise exception 'always' using errcode = '40001'; end $$`.execute(db);
    });
    await expect(work).rejects.toMatchObject({ code: '40001' });
    expect(attempts).toBe(4);
  });

  it('is not repeated after another fault', async () => {
    let attempts = 0;
    const work = inWork(database.db, async ({ db }) => {
      attempts += 1;
      await sql`select 1 / 0`.execute(db);
    });
    await expect(work).rejects.toMatchObject({ code: '22012' });
    expect(attempts).toBe(1);
  });

  const terminate = (pid: number) =>
    withClient(url, (client) => client.query('select pg_terminate_backend($1, 10000)', [pid]));
  const pidOf = async (tx: Tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    return rows[0]?.pid ?? 0;
  };

  it('is repeated when its connection is lost before the commit is sent', async () => {
    const before = (await valueOf('one')) ?? 0;
    let attempts = 0;
    await inWork(database.db, async ({ db }) => {
      attempts += 1;
      await add(db, 'one');
      if (attempts === 1) await terminate(await pidOf(db));
      await add(db, 'two');
    });
    expect(attempts).toBe(2);
    expect(await valueOf('one')).toBe(before + 1);
  });

  it('is not repeated when the confirmation of its commit is lost: it may have been committed', async () => {
    await using lossy = await startLossyDatabase(url);
    const through = openDatabase(lossy.url, () => undefined);
    const before = (await valueOf('one')) ?? 0;
    let attempts = 0;
    const lost = lossy.loseCommitOf('update counters');
    const work = inWork(through.db, async ({ db }) => {
      attempts += 1;
      await add(db, 'one');
    });
    const failed = expect(work).rejects.toThrow();
    (await lost).cut();
    await failed;
    expect(attempts).toBe(1);
    expect(await valueOf('one')).toBe(before + 1);
    await through.close();
  });
});

/** The first `times` statements that insert into the table fail. A sequence counts them: a rollback does not undo that. */
const failInserts = (table: string, code: string, times: number) =>
  sql.raw(`
    create sequence inserts;
    create function fail_first() returns trigger language plpgsql as $$ begin
      if nextval('inserts') <= ${times} then raise exception 'a fault' using errcode = '${code}'; end if;
      return null;
    end $$;
    create trigger fail_first after insert on ${table} for each statement execute function fail_first()`);

describe('a request', () => {
  it('returns 201 after deadlocks, and its provider was asked once', async () => {
    let asked = 0;
    await using service = await startTestService({
      providers: {
        verifyCard: (...given) => {
          asked += 1;
          return verifySimulatedCard(...given);
        },
      },
    });
    const { db } = service.service.database;
    await failInserts('payment_methods', '40P01', 2).execute(db);
    const { status, body } = await service.call('POST', '/payment-methods', {
      token: service.token('*.write'),
      body: card,
      headers: { 'Idempotency-Key': 'after-deadlocks' },
    });
    expect([status, asked]).toEqual([201, 1]);
    const { rows } = await sql`select from events where body::text like ${`%${(body as { id: string }).id}%`}
      and merchant_account_id = 'default'`.execute(db);
    expect(rows).toHaveLength(1);
  });
});

describe('`payments import`', () => {
  it('is not repeated, because its input was read: it fails and imports nothing', async () => {
    await using service = await startTestService();
    const { db } = service.service.database;
    await failInserts('transactions', '40P01', 1).execute(db);
    const env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
    const given = transaction({});
    const { status, stdout } = await paymentsHere(
      ['import', 'transactions', '-'],
      env,
      JSON.stringify(given),
    );
    expect([status, stdout]).toEqual([1, '']);
    const { rows } =
      await sql`select from transactions where merchant_account_id = ${given.merchant_account_id}
      and id = ${given.id}`.execute(db);
    expect(rows).toEqual([]);
  });
});
