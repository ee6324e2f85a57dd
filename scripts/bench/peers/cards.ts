// Inserts the rows that the service writes for a new card: the card, its event, the delivery and the job of that delivery. The
// rows are copies of the newest ones, so that they have the size and the columns of what the service writes.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

type Row = Record<string, string | null>;

interface Template {
  table: string;
  row: Row;
}

/** Values as PostgreSQL writes them, which it also reads. */
const asText = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

export function createInsertCard(pool: pg.Pool): () => Promise<string> {
  let found: Promise<Template[]> | undefined;
  return async () => {
    const templates = await (found ??= readTemplates(pool));
    const [card, event, delivery] = [randomUUID(), randomUUID(), randomUUID()];
    const own: Row[] = [
      { id: card },
      { id: event },
      { id: delivery, event_id: event },
      { id: randomUUID(), data: JSON.stringify({ deliveryId: delivery, round: 1 }) },
    ];
    const client = await pool.connect();
    try {
      await client.query('begin');
      for (const [index, { table, row }] of templates.entries()) {
        const columns = Object.keys(row);
        await client.query({
          name: `insert ${table}`,
          text: `insert into ${table} (${columns.join(', ')})
                 values (${columns.map((_, place) => `$${place + 1}`).join(', ')})`,
          values: Object.values({ ...row, ...own[index] }),
        });
      }
      await client.query('commit');
      client.release();
      return card;
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
}

async function readTemplates(pool: pg.Pool): Promise<Template[]> {
  const read = async (table: string, where: string, ...values: unknown[]): Promise<Template> => {
    const { rows } = await pool.query<Row>({
      text: `select * from ${table} where ${where} limit 1`,
      values,
      types: asText,
    });
    if (!rows[0]) throw new Error(`The service has written no row to ${table} yet.`);
    return { table, row: rows[0] };
  };
  const job = await read('pgboss.job', `data ->> 'deliveryId' is not null`);
  const { deliveryId } = JSON.parse(job.row.data ?? '{}') as { deliveryId: string };
  const delivery = await read('deliveries', 'id = $1', deliveryId);
  const event = await read('events', 'id = $1', delivery.row.event_id);
  const { target } = JSON.parse(event.row.body ?? '{}') as { target: { id: string } };
  const card = await read('payment_methods', 'id = $1', target.id);
  return [{ ...card, row: { ...card.row, external_identifier: null } }, event, delivery, job];
}
