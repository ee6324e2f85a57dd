import { Command } from 'commander';
import { sql } from 'kysely';
import { seedTransaction } from '../sandbox/sample-transactions.ts';
import type { Db } from '../store/database.ts';
import { beginBulk } from '../store/transaction-moves.ts';
import { count, startProgress } from './progress.ts';
import { Refused } from './output.ts';
import { knownAccount, withServices } from './support.ts';

const batch = 1000;

export function seed(): Command {
  return new Command('seed')
    .description('make plausible transactions, any number of them, and the same ones again for the same seed')
    .requiredOption('--transactions <number>', 'how many, up to 10000000')
    .option('--merchant-account <id>', 'account', 'default')
    .option('--seed <number>', 'which sequence; a sequence goes on where it was left', '1')
    .option('--until <time>', 'the newest is a little older than this; by default the start of today (UTC)')
    .action(run);
}

interface Options {
  transactions: string;
  merchantAccount: string;
  seed: string;
  until?: string;
}

async function run({
  transactions,
  merchantAccount: account,
  seed: sequence,
  until,
}: Options): Promise<void> {
  if (!/^\d{1,8}$/.test(transactions) || Number(transactions) > 10_000_000)
    throw new Refused('--transactions is a number up to 10000000.');
  if (!/^\d{1,6}$/.test(sequence)) throw new Refused('--seed is a number of up to six digits.');
  const end = until === undefined ? new Date(new Date().setUTCHours(0, 0, 0, 0)) : new Date(until);
  if (Number.isNaN(end.getTime()) || !/^\d{4}-\d\d-\d\d/.test(until ?? end.toISOString()))
    throw new Refused('--until is a time such as 2026-11-15T00:00:00Z.');
  const wanted = Number(transactions);
  const progress = startProgress('Seeding');
  try {
    await withServices(({ db }, means) =>
      db.transaction().execute(async (transaction) => {
        const bulk = await beginBulk(transaction);
        const from = await begun(transaction, account, Number(sequence));
        // The next ones are made while the database stores these.
        let storing: Promise<unknown> = Promise.resolve();
        for (let made = 0; made < wanted; made += batch) {
          const size = Math.min(batch, wanted - made);
          const options = { seed: Number(sequence), until: end, means };
          const rows = Array.from({ length: size }, (_, index) =>
            seedTransaction(from + made + index, account, options),
          );
          await storing;
          storing = bulk.create(rows);
          storing.catch(() => undefined);
          progress.say(`Seeding: ${count(made + size)} of ${count(wanted)} transactions`);
        }
        await storing;
        await bulk.finish();
      }),
    );
  } catch (error) {
    progress.failed();
    throw error;
  }
  progress.done(`Made ${count(wanted, 'transaction')} in ${account}.`);
}

/** How many of the sequence are there already. */
async function begun(db: Db, account: string, sequence: number): Promise<number> {
  await knownAccount(db, account);
  // Who else goes on with this sequence waits, and goes on behind us.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`seed ${account} ${sequence}`}, 0))`.execute(db);
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from transactions where merchant_account_id = ${account} and metadata ->> 'seed' = ${String(sequence)}`.execute(
    db,
  );
  return rows[0]?.total ?? 0;
}
