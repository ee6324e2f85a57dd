// Rows a second of `payments seed` and `payments import`, beside `insert … select` of the same rows into the same indexed
// table, which is the most that PostgreSQL itself can do.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { root } from '../support/root.ts';
import { columns as shown } from './contract.ts';
import type { Row } from './report.ts';
import { createService } from './service.ts';

/** What a line of an import has besides the resource. */
const hidden = [
  ...['metadata', 'payment_source', 'merchant_initiated', 'is_subsequent_payment'],
  'payment_service_transaction_id',
];

export async function benchImport(count: number, rounds: number): Promise<Row[]> {
  await using service = await createService(root, 0);
  await service.start();
  const client = new pg.Client({ connectionString: service.databaseUrl() });
  await client.connect();
  const seconds = async (work: () => unknown) => {
    const start = performance.now();
    await work();
    return (performance.now() - start) / 1000;
  };
  const payments = (...args: string[]) =>
    seconds(() => {
      if (service.payments(...args).status !== 0) throw new Error(`payments ${args.join(' ')} failed.`);
    });
  const [file, empty] = [join(service.dataDir, 'lines.jsonl'), join(service.dataDir, 'empty.jsonl')];
  writeFileSync(empty, '');
  const found = { import: [] as number[], seed: [] as number[], insert: [] as number[] };
  for (let round = 1; round <= rounds; round += 1) {
    // Starting a process is not part of the comparison.
    const start = await payments('import', 'transactions', empty);
    await client.query('truncate transactions');
    found.seed.push(count / ((await payments('seed', '--transactions', String(count))) - start));
    if (round === 1) {
      await client.query('create table bench_rows as table transactions');
      writeFileSync(file, await lines(client));
    }
    await client.query('truncate transactions');
    const insert = 'insert into transactions select * from bench_rows';
    found.insert.push(count / (await seconds(() => client.query(insert))));
    await client.query('truncate transactions');
    found.import.push(count / ((await payments('import', 'transactions', file)) - start));
  }
  await client.end();
  return Object.entries(found).map(([subject, value]) => ({ measure: 'import', subject, unit: '/s', value }));
}

/** The rows as `payments import` reads them. */
async function lines(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ line: string }>(
    `select to_json(one)::text as line
     from (select 'transaction' as type, ${[...shown, ...hidden].join(', ')} from bench_rows) as one`,
  );
  return rows.map(({ line }) => `${line}\n`).join('');
}
