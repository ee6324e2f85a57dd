// COPY's text format, which server/kit/database/protocol.ts writes itself: PostgreSQL must read every type as it was given.
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SqlType } from '../../server/kit/database/columns.ts';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { copyRow, copyRows } from '../../server/kit/database/protocol.ts';
import { createTestDatabase } from '../support/database.ts';
import { runs } from '../support/random.ts';

let database: Database;
beforeAll(async () => {
  const fail = (error: Error) => {
    throw error;
  };
  database = openDatabase(await createTestDatabase(), fail, { size: 1 });
});
afterAll(() => database.close());

const text = fc.string({ unit: 'binary', maxLength: 40 }).map((given) => given.replaceAll('\0', ''));
const values: Record<SqlType, fc.Arbitrary<unknown>> = {
  text,
  uuid: fc.uuid(),
  bigint: fc.maxSafeInteger(),
  integer: fc.integer(),
  boolean: fc.boolean(),
  timestamptz: fc.date({
    noInvalidDate: true,
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
  }),
  json: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null))),
  jsonb: fc.dictionary(text, text),
  'text[]': fc.array(text),
  'uuid[]': fc.array(fc.uuid()),
};
const types = Object.keys(values) as SqlType[];
const columns = types.map((type, index) => [`c${index}`, type] as const);
const place = sql.raw(`id integer, ${columns.map((column) => column.join(' ')).join(', ')}`);
const row = fc.record(
  Object.fromEntries(columns.map(([name, type]) => [name, fc.option(values[type], { freq: 9 })])),
);

const store = (rows: Record<string, unknown>[]) =>
  database.db.transaction().execute(async (tx) => {
    await sql`create temporary table copied (${place}) on commit drop`.execute(tx);
    const all = [['id', 'integer'], ...columns] as const;
    await copyRows(
      tx,
      'copied',
      all,
      rows.map((one, id) => copyRow(all, { ...one, id })),
    );
    return (await sql`select * from copied order by id`.execute(tx)).rows;
  });

it('stores values of every type, and nulls', async () => {
  const given = fc.sample(row, runs(2_000));
  expect(await store(given)).toEqual(given.map((one, id) => ({ ...one, id })));
});

it('stores characters that COPY and arrays give a meaning to', async () => {
  const texts = ['', '\\', '\\N', '\\.', '\t', '\r\n', '"', '{a,b}', 'null', ' a ', 'ä€😀'.repeat(100_000)];
  const named = (type: SqlType) => columns.find((column) => column[1] === type)?.[0] ?? '';
  const given = texts.map((one) => ({
    [named('text')]: one,
    [named('json')]: { [one]: one },
    [named('text[]')]: [one, one],
  }));
  expect(await store(given)).toMatchObject(given);
});

it('refuses a UUID that is none, and then goes on', async () => {
  const [name] = columns.find(([, type]) => type === 'uuid') ?? [''];
  for (const wrong of ['', 'x', `${'0'.repeat(8)}-0000-4000-8000-00000000000g`])
    await expect(store([{ [name]: wrong }])).rejects.toThrow('invalid input syntax for type uuid');
  const [id] = fc.sample(fc.uuid(), 1);
  expect(await store([{ [name]: id }])).toMatchObject([{ [name]: id }]);
});
