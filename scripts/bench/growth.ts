// Whether a page takes the same time in a large account: first, middle and last page, each filter alone and common pairs, and
// the filters in an account that has none of those rows. One request after another, so that only the answer itself counts.
import pg from 'pg';
import type { Programs } from './programs.ts';
import type { GrowthTimes } from './results.ts';
import { startService, type BenchedService } from './service.ts';
import { median } from './statistics.ts';

/** A row of which the values of the filters are taken. */
type Row = Record<string, unknown>;

const text = (name: string) => (row: Row) => String(row[name]);
const time = (name: string) => (row: Row) => (row[name] as Date).toISOString();
const first = (name: string) => (row: Row) => String((row[name] as unknown[])[0]);
const yes = () => 'true';

const filters: Record<string, (row: Row) => string> = {
  id: text('id'),
  amount_eq: text('amount'),
  amount_gte: text('amount'),
  amount_lte: text('amount'),
  created_at_gte: time('created_at'),
  created_at_lte: time('created_at'),
  updated_at_gte: time('updated_at'),
  updated_at_lte: time('updated_at'),
  buyer_id: text('buyer_id'),
  buyer_external_identifier: text('buyer_external_identifier'),
  checkout_session_id: text('checkout_session_id'),
  currency: text('currency'),
  external_identifier: text('external_identifier'),
  gift_card_id: first('gift_card_ids'),
  gift_card_last4: first('gift_card_last4s'),
  has_gift_card_redemptions: yes,
  has_refunds: yes,
  has_settlements: yes,
  is_subsequent_payment: yes,
  merchant_initiated: yes,
  metadata: (row) => JSON.stringify({ campaign: (row.metadata as { campaign: string }).campaign }),
  method: text('method'),
  payment_method_bin: text('payment_method_bin'),
  payment_method_id: text('payment_method_id'),
  payment_method_label: text('payment_method_label'),
  payment_service_id: text('payment_service_id'),
  payment_service_transaction_id: text('payment_service_transaction_id'),
  payment_source: text('payment_source'),
  pending_review: yes,
  reconciliation_id: text('reconciliation_id'),
  search: text('external_identifier'),
  status: text('status'),
};

export const filterNames = Object.keys(filters);

const pairs = [
  ['status', 'currency'],
  ['status', 'created_at_gte'],
  ['status', 'created_at_lte'],
  ['created_at_gte', 'created_at_lte'],
  ['amount_gte', 'amount_lte'],
  ['amount_gte', 'currency'],
  ['buyer_id', 'status'],
  ['payment_method_id', 'status'],
  ['payment_service_id', 'status'],
  ['metadata', 'status'],
  ['has_refunds', 'currency'],
  ['gift_card_last4', 'status'],
] as const;

const samples = 25;
const largestPage = 500;

export async function benchGrowth(
  programs: Programs,
  { sizes, progress }: { sizes: readonly number[]; progress: (text: string) => void },
): Promise<GrowthTimes[]> {
  progress('Growth: starting the service');
  await using service = await startService(programs);
  const client = new pg.Client({ connectionString: service.databaseUrl, application_name: 'bench' });
  await client.connect();
  try {
    const found: GrowthTimes[] = [];
    let rows = 0;
    for (const size of sizes) {
      progress(`Growth: seeding up to ${size} transactions`);
      await service.payments('seed', '--transactions', String(size - rows));
      rows = size;
      await client.query('vacuum analyze transactions');
      found.push(await measureSize(service, client, size, progress));
    }
    return found;
  } finally {
    await client.end();
  }
}

async function measureSize(
  service: BenchedService,
  client: pg.Client,
  size: number,
  progress: (text: string) => void,
): Promise<GrowthTimes> {
  progress(`Growth: ${size} transactions, collecting cursors`);
  const cursors = await walk(service);
  const asQuery = (cursor: string) => `&cursor=${cursor}`;
  const middle = Math.floor((cursors.length - samples) / 2);
  const pages = {
    first: await milliseconds(service, ['']),
    middle: await milliseconds(service, cursors.slice(middle, middle + samples).map(asQuery)),
    last: await milliseconds(service, cursors.slice(-1).map(asQuery)),
  };
  // One from the middle that has everything that can be filtered by.
  const { rows } = await client.query<Row>(
    `select * from transactions where merchant_account_id = 'default' and gift_card_ids is not null
     and checkout_session_id is not null and payment_service_transaction_id is not null and buyer_id is not null
     order by created_at desc offset $1 limit 1`,
    [Math.floor(size / 100)],
  );
  const [row] = rows;
  if (!row) throw new Error('No transaction has everything that can be filtered by.');
  const query = (names: readonly string[]) =>
    names.map((name) => `&${name}=${encodeURIComponent(filters[name]?.(row) ?? '')}`).join('');
  const each = async (queries: Iterable<readonly [string, string]>, account = 'default') => {
    const times: Record<string, number> = {};
    for (const [name, one] of queries) {
      progress(`Growth: ${size} transactions, ${name} in ${account}`);
      times[name] = await milliseconds(service, [one], account);
    }
    return times;
  };
  const alone = filterNames.map((name) => [name, query([name])] as const);
  return {
    rows: size,
    pages,
    filters: await each(alone),
    pairs: await each(pairs.map((names) => [names.join(' and '), query(names)] as const)),
    elsewhere: await each(alone, 'marketplace'),
  };
}

async function get(
  { url, token }: BenchedService,
  query: string,
  account = 'default',
): Promise<{ next_cursor: string | null }> {
  const response = await fetch(`${url}/transactions?${query}`, {
    headers: { Authorization: `Bearer ${token}`, 'X-Service-Merchant-Account-ID': account },
  });
  if (!response.ok) throw new Error(`${query} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { next_cursor: string | null };
}

/** The median of several requests, after a few to warm up. */
async function milliseconds(
  service: BenchedService,
  queries: readonly string[],
  account?: string,
): Promise<number> {
  const times: number[] = [];
  for (let sent = -3; sent < samples; sent += 1) {
    const query = queries[Math.max(sent, 0) % queries.length] ?? '';
    const start = performance.now();
    await get(service, `limit=20${query}`, account);
    if (sent >= 0) times.push(performance.now() - start);
  }
  return median(times);
}

/** In the largest steps that the contract allows: 2,000 requests for a million rows. A cursor is not bound to the limit. */
async function walk(service: BenchedService): Promise<string[]> {
  const cursors: string[] = [];
  for (;;) {
    const from = cursors.length > 0 ? `&cursor=${cursors.at(-1) ?? ''}` : '';
    const { next_cursor } = await get(service, `limit=${largestPage}${from}`);
    if (next_cursor === null) return cursors;
    cursors.push(next_cursor);
  }
}
