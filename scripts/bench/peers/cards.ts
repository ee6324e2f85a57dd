// Inserts the rows that the service writes for a new card: the card, its event and the delivery. The
// rows are copies of the newest ones, so that they have the size and the columns of what the service writes.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { pool } from './peer.ts';

type Row = Record<string, string | null>;
type Ids = Record<'card' | 'event' | 'delivery', string>;

/** Values as PostgreSQL writes them, which it also reads. */
const asText = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

const tables: [name: string, newest: string, own: (ids: Ids) => Row][] = [
  ['payment_methods', 'created_at', ({ card }) => ({ id: card, external_identifier: null })],
  ['events', 'created_at', ({ event }) => ({ id: event })],
  ['deliveries', 'created_at', ({ event, delivery }) => ({ id: delivery, event_id: event })],
];

const readTemplates = () =>
  Promise.all(
    tables.map(async ([table, newest, own]) => {
      const text = `select * from ${table} order by ${newest} desc limit 1`;
      const { rows } = await pool.query<Row>({ text, types: asText });
      return { table, own, row: rows[0] ?? {} };
    }),
  );

let templates: ReturnType<typeof readTemplates> | undefined;

export async function insertCard(): Promise<object> {
  const ids: Ids = { card: randomUUID(), event: randomUUID(), delivery: randomUUID() };
  const rows = (await (templates ??= readTemplates())).map(({ table, row, own }) => ({
    table,
    row: { ...row, ...own(ids) },
  }));
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const { table, row } of rows) {
      const places = Object.keys(row).map((_, index) => `$${index + 1}`);
      const text = `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`;
      await client.query({ name: `insert ${table}`, text, values: Object.values(row) });
    }
    await client.query('commit');
  } finally {
    client.release();
  }
  return rows[0]?.row ?? {};
}
