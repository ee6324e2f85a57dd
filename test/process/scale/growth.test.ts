// What a stored card costs PostgreSQL does not grow with the database, except by the depth of its indexes.
import { expect, it } from 'vitest';
import { makeCard } from '../../../scripts/bench/load.ts';
import { createTestDatabase, withClient } from '../../support/database.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { subscribe } from '../../support/webhooks.ts';

/** 200,000 cards, half of them in the account, 1,000 other accounts, and 100,000 pending deliveries. */
const growth = `
  insert into merchant_accounts (id, display_name)
    select 'other-' || n, 'Other' from generate_series(1, 1000) n;
  create temporary view chosen as
    select n, case when n % 2 = 0 then 'default' else 'other-' || (n / 2 % 1000 + 1) end as account
    from generate_series(1, 200000) n;
  insert into payment_methods (merchant_account_id, external_identifier, status, bin, label, fingerprint, number_sealed)
    select account, md5(n::text), 'succeeded', '411111', '1111', md5(n::text), repeat('sealed', 20) from chosen;
  insert into events (id, name, merchant_account_id, body, created_at)
    select gen_random_uuid(), 'payment-method.created', account, repeat('event', 200), now() from chosen where n <= 100000;
  insert into deliveries (merchant_account_id, event_id, subscription_id)
    select merchant_account_id, id, (select id from webhook_subscriptions) from events;
  insert into number_buckets
    select md5(n::text), (select seen from number_buckets limit 1), now() from chosen;`;

const tables = ['payment_methods', 'events', 'deliveries', 'number_buckets'];

it('with 200,000 cards and 100,000 pending deliveries a card reads two blocks more of each index, and nothing else', async () => {
  const fresh = await costOfCard('');
  const grown = await costOfCard(growth);
  console.log(`Blocks per card: ${fresh.blocks} in a fresh database, ${grown.blocks} in a grown one.`);
  expect(grown.blocks - fresh.blocks).toBeLessThanOrEqual(2 * grown.indexes);
}, 300_000);

async function costOfCard(fill: string) {
  const databaseUrl = await createTestDatabase('furnished');
  // Connections report what they have read when they are closed.
  const store = async (cards: number) => {
    await using service = await startTestService({ config: { databaseUrl, webhookWorker: false } });
    await storeCards(service, cards);
  };
  {
    await using service = await startTestService({ config: { databaseUrl, webhookWorker: false } });
    await subscribe(service, 'http://127.0.0.1:9/');
    await storeCards(service, 200);
  }
  return withClient(databaseUrl, async (client) => {
    await client.query(fill);
    for (const table of tables) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
    await client.query('vacuum analyze');
    const found = async () => {
      const { rows } = await client.query<{ blocks: number; indexes: number }>(
        `select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 as blocks,
           (select count(*)::float8 from pg_indexes where tablename = any($1)) as indexes
         from pg_statio_user_tables where relname = any($1)`,
        [tables],
      );
      return rows[0] ?? { blocks: NaN, indexes: NaN };
    };
    const before = await found();
    await store(20);
    const between = await found();
    await store(120);
    const { blocks, indexes } = await found();
    // What a start itself reads is in both.
    return { blocks: (blocks - between.blocks - (between.blocks - before.blocks)) / 100, indexes };
  });
}

async function storeCards(service: TestService, cards: number): Promise<void> {
  const token = service.token('payment-methods.write');
  for (let stored = 0; stored < cards; stored += 1) {
    const { status } = await service.call('POST', '/payment-methods', { token, body: makeCard() });
    expect(status).toBe(201);
  }
}
