// The page of transactions as somebody writes it who checks nothing: one named statement, the rows as they come.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { PeerConfig } from './peer.ts';

interface Contract {
  components: { schemas: { Transaction: { properties: Record<string, unknown> } } };
}

export interface PageQuery {
  limit?: number;
  cursor?: string;
  amount_gte?: number;
}

export interface Page {
  items: object[];
  limit: number;
  next_cursor: string | null;
  previous_cursor: string | null;
}

interface Row {
  id: string;
  created_at: string;
}

/** A cursor of the peers: readable and not signed. */
export const cursorAt = ({ created_at, id }: Row): string =>
  Buffer.from(`${created_at} ${id}`).toString('base64url');

export function openPool({ databaseUrl, applicationName }: PeerConfig): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());
  return new pg.Pool({
    connectionString: databaseUrl,
    application_name: applicationName,
    max: 10,
    // The CPU time of a backend that ends is lost to the bench.
    idleTimeoutMillis: 0,
    types,
  });
}

export function createListTransactions(
  pool: pg.Pool,
  contractFile: string,
): (query: PageQuery) => Promise<Page> {
  const { components } = JSON.parse(readFileSync(contractFile, 'utf8')) as Contract;
  const columns = Object.keys(components.schemas.Transaction.properties).filter((name) => name !== 'type');
  return async ({ limit = 20, cursor, amount_gte }) => {
    const values: unknown[] = ['default'];
    const place = (value: unknown) => `$${values.push(value)}`;
    const conditions = ['merchant_account_id = $1'];
    if (amount_gte !== undefined) conditions.push(`amount >= ${place(amount_gte)}`);
    if (cursor !== undefined) {
      const [createdAt, id] = Buffer.from(cursor, 'base64url').toString().split(' ');
      conditions.push(`(created_at, id) < (${place(createdAt)}::timestamptz, ${place(id)}::uuid)`);
    }
    const { rows } = await pool.query<Row>({
      name: `page of ${limit}${amount_gte === undefined ? '' : ' by amount'}${cursor === undefined ? '' : ' after'}`,
      text: `select 'transaction' as type, ${columns.join(', ')} from transactions
             where ${conditions.join(' and ')} order by created_at desc, id desc limit ${limit + 1}`,
      values,
    });
    const items = rows.slice(0, limit);
    const [first, last] = [items[0], items.at(-1)];
    return {
      items,
      limit,
      next_cursor: rows.length > limit && last ? cursorAt(last) : null,
      previous_cursor: cursor !== undefined && first ? cursorAt(first) : null,
    };
  };
}
