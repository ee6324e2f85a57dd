import { Command } from 'commander';
import { beginImport } from '../actions/transactions.ts';
import { silently } from '../actions/unit-of-work.ts';
import { readConfig } from '../config.ts';
import { sampleTransaction } from '../sandbox/sample-transactions.ts';
import { lockUntilCommit } from '../store/locks.ts';
import { countSeeded } from '../store/transactions.ts';
import { count, startProgress } from './progress.ts';
import { Refused } from './output.ts';
import { inAuditedWork, requireAccount, withSecrets } from './support.ts';

const batch = 1000;

export function seed(): Command {
  return new Command('seed')
    .description('create sample transactions; the same seed creates the same transactions')
    .requiredOption('--transactions <number>', 'how many, up to 10000000')
    .option('--merchant-account <id>', 'account', 'default')
    .option('--seed <number>', 'seed of the sequence; a second run continues the sequence', '1')
    .option('--until <time>', 'latest creation time; by default the start of today (UTC)')
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
  if (readConfig().environment === 'production')
    throw new Refused('Sample transactions can be created only in the sandbox.');
  if (!/^\d{1,8}$/.test(transactions) || Number(transactions) > 10_000_000)
    throw new Refused('--transactions is a number up to 10000000.');
  if (!/^\d{1,6}$/.test(sequence)) throw new Refused('--seed is a number of up to six digits.');
  const end = until === undefined ? new Date(new Date().setUTCHours(0, 0, 0, 0)) : new Date(until);
  if (Number.isNaN(end.getTime()) || !/^\d{4}-\d\d-\d\d/.test(until ?? end.toISOString()))
    throw new Refused('--until is a time such as 2026-11-15T00:00:00Z.');
  const total = Number(transactions);
  const seedNumber = Number(sequence);
  const progress = startProgress('Seeding');
  try {
    await withSecrets(({ database: { db }, secrets }) =>
      inAuditedWork(db, async (work) => {
        await requireAccount(work.db, account);
        // Another command for the same sequence waits, and then continues where this one ended.
        await lockUntilCommit(work.db, `seed ${account} ${seedNumber}`);
        const begun = await beginImport(silently(work, 'seeded'));
        const from = await countSeeded(work.db, account, seedNumber);
        const options = { seed: seedNumber, until: end, secrets };
        // The next batch is generated while the database stores this one.
        let storing: Promise<unknown> = Promise.resolve();
        for (let made = 0; made < total; made += batch) {
          const size = Math.min(batch, total - made);
          const rows = Array.from({ length: size }, (_, index) =>
            sampleTransaction(from + made + index, account, options),
          );
          await storing;
          storing = begun.create(rows);
          storing.catch(() => undefined);
          progress.update(`Seeding: ${count(made + size)} of ${count(total)} transactions`);
        }
        await storing;
        await begun.finish();
        return true;
      }),
    );
  } catch (error) {
    progress.failed();
    throw error;
  }
  progress.done(`Created ${count(total, 'transaction')} in ${account}.`);
}
