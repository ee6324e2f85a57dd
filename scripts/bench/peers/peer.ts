// What the peers share: what the bench tells them, the token, and the page as somebody writes it who checks nothing.
import { createPublicKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { columns } from '../contract.ts';

export interface PeerConfig {
  port: number;
  databaseUrl: string;
  /** PEM. Verifies the tokens of the sandbox. */
  publicKey: string;
}

interface Claims {
  exp: number;
  scopes: string[];
}

export const config = JSON.parse(process.env.BENCH_PEER ?? '{}') as PeerConfig;

const key = createPublicKey(config.publicKey);

/** Throws if the token is not valid. */
export const verify = (authorization = ''): Claims =>
  jwt.verify(authorization.slice('Bearer '.length), key, { algorithms: ['ES512'] }) as Claims;

export const hasScope = ({ scopes }: Claims, resource: string, right: 'read' | 'write'): boolean =>
  scopes.includes(`*.${right}`) || scopes.includes(`${resource}.${right}`);

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());

// The CPU time of a backend that ends is lost to the bench, so connections never idle out.
const settings = { connectionString: config.databaseUrl, max: 10, idleTimeoutMillis: 0, types };
export const pool = new pg.Pool(settings);

/** One named statement, the rows as they come. */
export async function listTransactions(limit: number): Promise<object> {
  const { rows } = await pool.query<{ id: string; created_at: string }>({
    name: `page of ${limit}`,
    text: `select 'transaction' as type, ${columns.join(', ')} from transactions
           where merchant_account_id = $1 order by created_at desc, id desc limit ${limit + 1}`,
    values: ['default'],
  });
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  const cursor = last && Buffer.from(`${last.created_at} ${last.id}`).toString('base64url');
  return { items, limit, next_cursor: cursor ?? null, previous_cursor: null };
}
