// Rows a second of `payments seed` and `payments import`, beside `insert … select` of the same rows into the same indexed
// table, which is the most that PostgreSQL itself can do.
import { createWriteStream } from 'node:fs';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { contractFile, type Programs } from './programs.ts';
import type { ImportTimes } from './results.ts';
import { startService } from './service.ts';
import { median, spread } from './statistics.ts';

/** What a line of an import has besides the resource. */
const hidden = [
  ...['metadata', 'payment_source', 'merchant_initiated', 'is_subsequent_payment'],
  'payment_service_transaction_id',
];
const batch = 5_000;

export async function benchImport(
  programs: Programs,
  { rows, rounds, progress }: { rows: number; rounds: number; progress: (text: string) => void },
): Promise<ImportTimes> {
  progress('Import: starting the service');
  await using service = await startService(programs);
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());
  const client = new pg.Client({ connectionString: service.databaseUrl, application_name: 'bench', types });
  await client.connect();
  try {
    const timed = async (work: () => Promise<unknown>) => {
      const start = performance.now();
      await work();
      return performance.now() - start;
    };
    // Starting a process is not part of the comparison.
    const file = join(programs.folder, 'transactions.jsonl');
    const empty = join(programs.folder, 'empty.jsonl');
    createWriteStream(empty).end();
    const noSeed: number[] = [];
    const noImport: number[] = [];
    const [seeding, importing, inserting]: [number[], number[], number[]] = [[], [], []];
    let mostBytes: number | undefined;
    for (let round = 1; round <= rounds; round += 1) {
      const tell = (what: string) => {
        progress(`Import: ${what}, round ${round} of ${rounds}`);
      };
      noSeed.push((await service.payments('seed', '--transactions', '1')).milliseconds);
      noImport.push((await service.payments('import', 'transactions', empty)).milliseconds);
      tell('payments seed');
      await client.query('truncate transactions');
      seeding.push((await service.payments('seed', '--transactions', String(rows))).milliseconds);
      if (round === 1) {
        tell('writing the file');
        await client.query('create table bench_rows as table transactions');
        await writeLines(client, file);
      }
      tell('insert … select');
      const columns = await insertable(client);
      await client.query('truncate transactions');
      inserting.push(
        await timed(() =>
          client.query(`insert into transactions (${columns}) select ${columns} from bench_rows`),
        ),
      );
      tell('payments import');
      await client.query('truncate transactions');
      const ran = await service.payments('import', 'transactions', file);
      importing.push(ran.milliseconds);
      mostBytes = ran.mostBytes;
    }
    const perSecond = (times: number[], without: number) =>
      spread(times.map((milliseconds) => (rows / (milliseconds - without)) * 1000));
    return {
      rows,
      insertSelect: perSecond(inserting, 0),
      seed: perSecond(seeding, median(noSeed)),
      import: perSecond(importing, median(noImport)),
      ...(mostBytes === undefined ? {} : { importMegabytes: mostBytes / 1e6 }),
    };
  } finally {
    await client.end();
  }
}

/** The columns that can be written, in one line. */
async function insertable(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ column_name: string }>(
    `select column_name from information_schema.columns
     where table_name = 'transactions' and table_schema = current_schema() and is_generated = 'NEVER'`,
  );
  return rows.map(({ column_name }) => column_name).join(', ');
}

async function writeLines(client: pg.Client, file: string): Promise<void> {
  const { components } = JSON.parse(readFileSync(contractFile, 'utf8')) as {
    components: { schemas: { Transaction: { properties: Record<string, unknown> } } };
  };
  const shown = Object.keys(components.schemas.Transaction.properties).filter((name) => name !== 'type');
  const output = createWriteStream(file);
  await client.query('begin');
  await client.query(
    `declare lines no scroll cursor for select 'transaction' as type, ${[...shown, ...hidden].join(', ')} from bench_rows`,
  );
  for (;;) {
    const { rows } = await client.query<object>(`fetch ${batch} from lines`);
    if (rows.length === 0) break;
    if (!output.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))) await once(output, 'drain');
  }
  await client.query('commit');
  output.end();
  await once(output, 'finish');
}
