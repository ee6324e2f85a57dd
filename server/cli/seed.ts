import { Command } from 'commander';
import { beginImport } from '../resources/transactions/changes.ts';
import { silently } from '../database/unit-of-work.ts';
import { readCommandConfig } from '../config.ts';
import { inSlices } from '../rules/slices.ts';
import { createSamples } from '../sandbox/sample-transactions.ts';
import { lockUntilCommit } from '../database/locks.ts';
import { countSeeded, type NewTransaction } from '../resources/transactions/queries.ts';
import { OperatorFault } from '../operator-fault.ts';
import { count, startProgress } from './progress.ts';
import { asResult, resultText, withExamples } from './output.ts';
import { inAuditedWork, requireAccount, withSecrets } from './support.ts';
import { time, whole } from './values.ts';

const batch = 1000;

export function seed(): Command {
  return withExamples(
    asResult(new Command('seed')),
    'seed --transactions 1000',
    'seed --transactions 1000 --seed 2 --until 2026-11-01',
  )
    .requiredOption('--transactions <number>', 'how many, up to 10000000', whole(1, 10_000_000))
    .option('--merchant-account <id>', 'account', 'default')
    .option(
      '--seed <number>',
      'seed of the sequence; a second run continues the sequence',
      whole(0, 999_999),
      1,
    )
    .option('--until <time>', 'latest creation time; by default the start of today (UTC)', time)
    .action(run);
}

interface Options {
  transactions: number;
  merchantAccount: string;
  seed: number;
  until?: Date;
  json?: boolean;
}

async function run({
  transactions: total,
  merchantAccount: account,
  seed: seedNumber,
  until: end = new Date(new Date().setUTCHours(0, 0, 0, 0)),
  json,
}: Options): Promise<void> {
  if (readCommandConfig().environment === 'production')
    throw new OperatorFault('Sample transactions can be created only in the sandbox.');
  const progress = startProgress('Seeding');
  // All of them are one database transaction, which ends with the process.
  const onSignal = (signal: NodeJS.Signals) => {
    progress.failed();
    console.error('Stopped. No transaction of this run was kept.');
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    await withSecrets(
      ({ database: { db }, secrets }) =>
        inAuditedWork(db, async (work) => {
          await requireAccount(work.db, account);
          // Another command for the same sequence waits, and then continues where this one ended.
          await lockUntilCommit(work.db, `seed ${account} ${seedNumber}`);
          const keys = await secrets.keysOf(work.db, account);
          const begun = await beginImport(silently(work, 'seeded'));
          const from = await countSeeded(work.db, account, seedNumber);
          const sampleAt = createSamples(account, { seed: seedNumber, until: end, keys });
          // The next batch is generated and encoded while the database stores this one.
          let storing: Promise<unknown> = Promise.resolve();
          for (let made = 0; made < total; made += batch) {
            const size = Math.min(batch, total - made);
            const rows: NewTransaction[] = [];
            await inSlices(Array(size).keys(), (index) => rows.push(sampleAt(from + made + index)));
            const next = begun.create(rows);
            next.catch(() => undefined);
            await storing;
            storing = next;
            progress.update(`Seeding: ${count(made + size)} of ${count(total)} transactions`);
          }
          await storing;
          await begun.finish();
          return true;
        }),
      { isLong: true },
    );
  } catch (error) {
    progress.failed();
    throw error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
  const result = { created: total, merchant_account_id: account };
  progress.done(resultText(json, result, `Created ${count(total, 'transaction')} in ${account}.`));
}
