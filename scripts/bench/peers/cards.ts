// What the service writes for a new card: the card, its event and the delivery. The rows are copies of the newest ones, so that
// they have the size and the columns of what the service writes.
import { createCipheriv, createHmac, randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { recordText } from '../../../server/resources/number-limits/queries.ts';
import { pool } from './peer.ts';

type Row = Record<string, string | null>;
type Rows = Record<'card' | 'event' | 'delivery', Row>;

/** Values as PostgreSQL writes them, which it also reads. */
const asText = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

async function findNewest(table: string): Promise<Row> {
  const text = `select * from ${table} order by created_at desc limit 1`;
  const { rows } = await pool.query<Row>({ text, types: asText });
  return rows[0] ?? {};
}

async function readTemplates() {
  const [card, event, delivery] = await Promise.all([
    findNewest('payment_methods'),
    findNewest('events'),
    findNewest('deliveries'),
  ]);
  const told = JSON.parse(event.body ?? '{}') as { target: { details: object } };
  // The service looks at the ID of the key when it starts.
  const keyId = card.number_sealed?.split('.')[0] ?? '';
  return { card, event, delivery, told, keyId };
}
let templates: ReturnType<typeof readTemplates> | undefined;

export async function copyNewest() {
  const { card, event, delivery, ...rest } = await (templates ??= readTemplates());
  const event_id = randomUUID();
  return {
    card: { ...card, id: randomUUID() },
    event: { ...event, id: event_id },
    delivery: { ...delivery, id: randomUUID(), event_id },
    ...rest,
  };
}

export async function insertRows({ card, event, delivery }: Rows): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const [table, row] of Object.entries({
      payment_methods: card,
      events: event,
      deliveries: delivery,
    })) {
      const places = Object.keys(row).map((_, index) => `$${index + 1}`);
      const text = `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`;
      await client.query({ name: `insert ${table}`, text, values: Object.values(row) });
    }
    await client.query('commit');
  } finally {
    client.release();
  }
}

// What somebody adds who guards the number as the service does.

const key = randomBytes(32);
const digest = (...parts: string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest();

function seal(number: string, id: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(id));
  const sealed = [iv, cipher.update(number), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString('base64url');
}

const binOf = (number: string) => number.slice(0, 8);
const lastFour = (number: string) => number.slice(-4);

/** Whether no more than 20 numbers were tried that are alike in BIN and last four digits. By the statement of the service. */
export async function isWithinLimit(number: string): Promise<boolean> {
  const bucket = digest('bucket', binOf(number), lastFour(number)).toString('base64url');
  const one = digest('number', number).toString('base64url');
  const { rows } = await pool.query<{ seen: object }>({
    name: 'count a number',
    text: recordText,
    values: [[bucket], [one], 20, 86_400_000],
  });
  return Object.keys(rows[0]?.seen ?? {}).length <= 20;
}

/** The rows of a new card, and the answer. Scheme and status are those of the newest card: all are of Visa, and succeed. */
export async function makeRows(number: string, expiration_date: string) {
  const { card, event, delivery, told, keyId } = await copyNewest();
  const at = new Date().toISOString();
  const shown = {
    id: card.id,
    created_at: at,
    updated_at: at,
    expiration_date,
    label: lastFour(number),
    fingerprint: digest('fingerprint', number).toString('hex'),
  };
  const bin = binOf(number);
  const answer = { ...told.target, ...shown, details: { ...told.target.details, bin } };
  const rows: Rows = {
    card: { ...card, ...shown, bin, number_sealed: `${keyId}.${seal(number, card.id)}` },
    event: {
      ...event,
      created_at: at,
      body: JSON.stringify({ ...told, id: event.id, created_at: at, target: answer }),
    },
    delivery: { ...delivery, created_at: at, updated_at: at },
  };
  return { rows, answer };
}
