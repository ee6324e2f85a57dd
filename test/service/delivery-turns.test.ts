// Turns of webhook workers: no two have the same at once, nobody waits for one that cannot read the queue.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../server/store/database.ts';
import { createTurns, type Turns } from '../../server/webhooks/turns.ts';
import { createTestDatabase } from '../support/database.ts';

const recipient = (account: string) => ({
  subscription_id: '00000000-0000-0000-0000-000000000001',
  merchant_account_id: account,
  for_all: false,
  active: true,
  failing_since: null,
});

describe('turns', () => {
  let database: Database;
  beforeAll(async () => {
    database = openDatabase(await createTestDatabase('template'), () => undefined);
  });
  afterAll(() => database.close());
  beforeEach(() => database.pool.query('delete from delivery_turns'));

  const accountsOf = async (turns: Turns, ...accounts: string[]) =>
    (await turns.take(accounts.map(recipient))).map(({ merchant_account_id }) => merchant_account_id);
  const expire = () => database.pool.query(`update delivery_turns set until = now() - interval '1 second'`);

  it('belong to one worker at a time, without a deadlock', async () => {
    const accounts = Array.from({ length: 100 }, (_, index) => `account-${index}`);
    const owners = new Map<string, number>();
    const work = async (worker: number) => {
      const turns = createTurns(database.db);
      for (let round = 0; round < 60; round += 1) {
        const wanted = accounts.filter(() => Math.random() < 0.5).sort(() => Math.random() - 0.5);
        // Those that are not wanted any more are passed on in `take`.
        for (const [account, owner] of owners)
          if (owner === worker && !wanted.includes(account)) owners.delete(account);
        const taken = await accountsOf(turns, ...wanted);
        for (const account of taken) {
          expect(owners.get(account) ?? worker).toBe(worker);
          owners.set(account, worker);
        }
        await turns.keep(true);
      }
    };
    await Promise.all([1, 2, 3, 4].map(work));
    expect(owners.size).toBeGreaterThan(0);
  });

  it('are passed on when nothing is wanted and nothing is held', async () => {
    const [one, two] = [createTurns(database.db), createTurns(database.db)];
    expect(await accountsOf(one, 'a', 'b')).toEqual(['a', 'b']);
    const held = one.hold(recipient('a'));
    expect(await accountsOf(two, 'a', 'b')).toEqual([]);
    expect(two.wasRefused(recipient('a'))).toBe(true);
    expect(await accountsOf(one)).toEqual([]);
    expect(await accountsOf(two, 'a', 'b')).toEqual(['b']);
    held[Symbol.dispose]();
    await accountsOf(one);
    expect(await accountsOf(two, 'a', 'b')).toEqual(['a', 'b']);
  });

  it('of a worker that cannot read the queue end, except those of deliveries that it holds', async () => {
    const [one, two] = [createTurns(database.db), createTurns(database.db)];
    await accountsOf(one, 'a', 'b');
    using _held = one.hold(recipient('a'));
    await expire();
    await one.keep(false);
    expect(await accountsOf(two, 'a', 'b')).toEqual(['b']);
    expect(await accountsOf(one, 'a', 'b')).toEqual(['a']);
  });

  it('that were lost meanwhile are not taken for one’s own', async () => {
    const [one, two] = [createTurns(database.db), createTurns(database.db)];
    await accountsOf(one, 'a');
    await expire();
    expect(await accountsOf(two, 'a')).toEqual(['a']);
    await one.keep(true);
    expect(await accountsOf(one, 'a')).toEqual([]);
  });

  it('are passed on at the end', async () => {
    const [one, two] = [createTurns(database.db), createTurns(database.db)];
    await accountsOf(one, 'a');
    using _held = one.hold(recipient('a'));
    await one.passAll();
    expect(await accountsOf(two, 'a')).toEqual(['a']);
  });
});
