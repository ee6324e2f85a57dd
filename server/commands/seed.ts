import { Command } from 'commander';
import { requireAccount, withService, type Call } from '../cli/service.ts';
import { readCommandConfig } from '../config.ts';
import { printResult, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { count, withProgress } from '../kit/cli/progress.ts';
import { time, whole } from '../kit/cli/values.ts';
import { lockUntilCommit, silently, type AuditedChange, type Work } from '../kit/database/unit-of-work.ts';
import { OperatorFault } from '../kit/faults.ts';
import { inSlices } from '../kit/rules/async.ts';
import type { Secrets } from '../open-secrets.ts';
import { importTransactions } from '../resources/transactions/changes.ts';
import { countSeeded, type NewTransaction } from '../resources/transactions/queries.ts';
import { createSamples } from '../sandbox/sample-transactions.ts';

const batch = 1000;

export function makeCommand(call: Call): Command {
  return withExamples(
    new Command('seed'),
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
    .action((options: Options) => run(call, options));
}

interface Options extends JsonOption {
  transactions: number;
  merchantAccount: string;
  seed: number;
  until?: Date;
}

async function run(
  call: Call,
  { transactions: total, merchantAccount: account, ...options }: Options,
): Promise<void> {
  if (readCommandConfig().environment === 'production')
    throw new OperatorFault('Sample transactions can be created only in the sandbox.');
  const { seed: seedNumber, until = new Date(new Date().setUTCHours(0, 0, 0, 0)) } = options;
  const create = (update: (text: string) => void, interruption: AbortSignal) => {
    async function* batches(sampleAt: (index: number) => NewTransaction, from: number) {
      for (let made = 0; made < total; made += batch) {
        interruption.throwIfAborted();
        const size = Math.min(batch, total - made);
        const rows: NewTransaction[] = [];
        await inSlices(Array(size).keys(), (index) => rows.push(sampleAt(from + made + index)));
        yield { rows };
        update(`Seeding: ${count(made + size)} of ${count(total)} transactions`);
      }
    }
    const change = async (unit: Work & AuditedChange, { keysOf }: Secrets) => {
      await requireAccount(unit.db, account);
      // Another command for the same sequence waits, and then continues where this one ended.
      await lockUntilCommit(unit.db, `seed ${account} ${seedNumber}`);
      const keys = await keysOf(unit.db, account);
      const from = await countSeeded(unit.db, account, seedNumber);
      const sampleAt = createSamples(account, { seed: seedNumber, until, keys });
      await importTransactions(silently(unit, 'seeded'), batches(sampleAt, from));
      interruption.throwIfAborted();
      await unit.audit({});
    };
    return withService(call, (service) => service.change((unit) => change(unit, service.secrets)), {
      creates: true,
      isLong: true,
    });
  };
  await withProgress('Seeding', create, 'Interrupted; no transaction of this run was kept.');
  const result = { created: total, merchant_account_id: account };
  printResult(options, result, `Created ${count(total, 'transaction')} in ${account}.`);
}
