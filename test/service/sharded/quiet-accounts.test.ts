// Daily jobs, erasure, rotation and doctor send no statement for an account that has nothing to do: here nearly all of 3,000.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { Database, Db } from '../../../server/kit/database/database.ts';
import { findBrokenInvariants } from '../../../server/kit/maintenance/doctor.ts';
import { startJobs } from '../../../server/kit/maintenance/jobs.ts';
import { listSealed, resealEverything } from '../../../server/kit/secrets/reseal.ts';
import { createVault } from '../../../server/kit/secrets/vault.ts';
import { eraseBuyer } from '../../../server/resources/erasure/erase-buyer.ts';
import { eraseCards } from '../../../server/resources/erasure/erase-cards.ts';
import { facts, sealedColumns } from '../../../server/resources/facts.ts';
import { createTestDatabase, openTestDatabase } from '../../support/database.ts';
import { startLossyDatabase, type LossyDatabase } from '../../support/lost-commit.ts';
import { createBuyer, createTransactions, inStepOf, silentWork } from '../../support/records.ts';
import { templateSecrets } from '../../support/service.ts';
import { buyer, transaction } from '../../support/transactions.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const names = Array.from({ length: 3000 }, (_, index) => `account ${index + 1}`);
const [key] = templateSecrets().CARD_KEY;
const newKey = randomBytes(32);
const vault = createVault(() => [newKey, key]);

/** On Citus an erasure renews the statistics of each table by itself: without rows on the coordinator, all of them look empty. */
const mostOfErasure = inject('cluster').isCitus ? 80 : 60;

/** Counts the statements of `counted`. */
async function open() {
  const url = await createTestDatabase('furnished');
  const [plain, counter] = [openTestDatabase(url), await startLossyDatabase(url)];
  await sql`
    insert into merchant_accounts (id, display_name) select name, name from unnest(${names}::text[]) as name`.execute(
    plain.db,
  );
  return { plain, counter, counted: openTestDatabase(counter.url) };
}

let plain: Database;
let counted: Database;
let counter: LossyDatabase;
const close = async () => {
  await counted.close();
  await counter[Symbol.asyncDispose]();
  await plain.close();
};

/** How many statements it sends. */
async function trips(work: (db: Db) => Promise<unknown>): Promise<number> {
  await sql`select 1`.execute(counted.db);
  const begun = counter.trips();
  await work(counted.db);
  return counter.trips() - begun;
}

describe('accounts with records of others', () => {
  /** Each account has a card that is valid and sealed with the new key, its event and its answer, and a transaction. */
  beforeAll(async () => {
    ({ plain, counter, counted } = await open());
    await sql`
      with cards as (
        insert into payment_methods (merchant_account_id, id, status, expiration_date, number_sealed)
        select name, gen_random_uuid(), 'succeeded', '12/44', ${`${vault.keyId}.`} from unnest(${names}::text[]) as name
        returning merchant_account_id, id
      ), keys as (
        insert into idempotency_keys (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at, answer_sealed, resource_id)
        select merchant_account_id, 'slot', '', gen_random_uuid(), now(), now(), ${`${vault.keyId}.`}, id from cards
      )
      insert into events (merchant_account_id, id, name, body, created_at)
      select merchant_account_id, gen_random_uuid(), 'payment-method.created',
        json_build_object('target', json_build_object('id', id)), now() from cards`.execute(plain.db);
    await createTransactions(
      plain.db,
      names.map((merchant_account_id) => transaction({ merchant_account_id })),
    );
  });
  afterAll(close);

  const run = (db: Db) => ({
    db,
    inStep: inStepOf(db),
    dryRun: false,
    onProgress: () => undefined,
  });

  it('the erasure of a buyer, of whom two accounts have a transaction', async () => {
    const { id } = await createBuyer(plain.db);
    const of = (merchant_account_id: string) =>
      transaction({ merchant_account_id, buyer: buyer({ id, external_identifier: id }) });
    await createTransactions(plain.db, [of('default'), of('account 7')]);
    const named = () =>
      plain.db
        .selectFrom('transactions')
        .select('merchant_account_id')
        .where('buyer_external_identifier', '=', id)
        .execute();
    expect(await named()).toHaveLength(2);
    expect(await trips((db) => eraseBuyer(id, { ...run(db), references: false }))).toBeLessThan(
      mostOfErasure,
    );
    expect(await named()).toEqual([]);
  });

  it('the erasure of expired cards, of which one account has one', async () => {
    const expired = sql<{ left: number }>`
      select count(*)::integer as left from payment_methods where merchant_account_id = 'account 8' and expiration_date = '01/20'`;
    const left = async () => (await expired.execute(plain.db)).rows[0]?.left;
    await sql`update payment_methods set expiration_date = '01/20' where merchant_account_id = 'account 8'`.execute(
      plain.db,
    );
    const answers = async () =>
      (
        await sql`
          select from idempotency_keys where merchant_account_id = 'account 8' and answer_sealed is not null
          union all select from events where merchant_account_id = 'account 8'`.execute(plain.db)
      ).rows.length;
    expect([await left(), await answers()]).toEqual([1, 2]);
    const chosen = { expiredBefore: '02/20', account: undefined };
    expect(await trips((db) => eraseCards(chosen, run(db)))).toBeLessThan(mostOfErasure);
    expect([await left(), await answers()]).toEqual([0, 0]);
  });

  it('a rotation, which finds the values of one account in each of its passes', async () => {
    const progress = {
      begins: () => Promise.resolve(),
      resealed: () => undefined,
      waiting: () => undefined,
      pause: () => new Promise<void>((resolve) => setTimeout(resolve, 10)),
    };
    let sealed = 0;
    expect(
      await trips(async (db) => {
        sealed = await resealEverything(db, sealedColumns, vault, progress);
      }),
    ).toBeLessThan(120);
    expect(sealed).toBeGreaterThan(5);
    const keys = new Set<string>();
    expect(
      await trips((db) =>
        listSealed(db, sealedColumns, (value) => keys.add(value.sealed.split('.')[0] ?? '')),
      ),
    ).toBeLessThan(60);
    expect([...keys]).toEqual([vault.keyId]);
  });
});

describe('accounts without records', () => {
  beforeAll(async () => {
    ({ plain, counter, counted } = await open());
  });
  afterAll(close);

  it('the daily jobs, which find nothing that is old', async () => {
    const done: string[] = [];
    const note = ({ job }: { job: string }) => done.push(job);
    const log = { debug: note, info: note, warn: note, error: note } as unknown as Logger;
    const sent = await trips(async (db) => {
      const { stop } = startJobs({
        ...{ db, log, facts, here: () => new Date(), eventRetentionDays: 30, auditRetentionDays: 90 },
        inUnitOfWork: (work) => silentWork(db, work),
      });
      await vi.waitUntil(() => done.length === 7, { timeout: 20_000 });
      await stop();
    });
    expect(done).toContain('card-numbers-of-1.0');
    expect(sent).toBeLessThan(50);
  });

  it('doctor, which finds what is wrong in one of them', async () => {
    await sql`
      insert into payment_methods (merchant_account_id, status) values ('account 9', 'succeeded')`.execute(
      plain.db,
    );
    let broken: string[] = [];
    const sent = await trips(async (db) => {
      broken = (await findBrokenInvariants(db, facts))
        .filter((one) => one.broken > 0)
        .map(({ check }) => check);
    });
    expect(broken).toEqual(['cards that can be used have a number']);
    expect(sent).toBeLessThan(60);
  });
});
