// Metrics for Prometheus: they count what happens, their number is bounded, and docs, dashboard and alerts name those that exist.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { contractVersion, operations } from '../../generated/operations.ts';
import { handlers } from '../../server/handlers/index.ts';
import { limits } from '../../server/kit/http/listen.ts';
import type { VerifyCard } from '../../server/providers/cards.ts';
import type { GiftCardProvider } from '../../server/providers/gift-cards.ts';
import { card } from '../support/card.ts';
import { eventually } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { root } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';

const metrics = { metricsPort: 0 };

const fetchMetrics = async ({ service }: TestService) =>
  (await fetch(`http://127.0.0.1:${service.metricsPort ?? 0}/metrics`)).text();
/** One that is computed now: the answer is kept for a moment, and the CPU time in it tells when it was. */
async function scrape(service: TestService): Promise<string> {
  const kept = await fetchMetrics(service);
  let text = kept;
  await eventually(
    async () => (text = await fetchMetrics(service)) !== kept,
    'the metrics are computed again',
  );
  return text;
}
/** Of one series, such as `name{label="value"}`. */
const valueIn = (text: string, series: string) => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};
const namesIn = (text: string) => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);

describe('a service with METRICS_PORT', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      config: { ...metrics, cardsPerMinute: 2 },
      // Less than tokens allow.
      now: () => new Date(Date.now() + 40_000),
      handlers: {
        ...handlers,
        listCardSchemeDefinitions: () => Promise.resolve({ status: 200, body: { items: [{}] } } as never),
      },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const post = () =>
    service.call('POST', '/payment-methods', { token: service.token('*.write'), body: card });

  it('counts requests by operation and status, durations, refusals for the limit, and contract faults', async () => {
    const token = service.token('*.read');
    await service.call('GET', '/transactions', { token });
    for (let call = 1; call <= 3; call++) await post();
    expect((await service.call('GET', '/card-scheme-definitions', { token })).status).toBe(500);
    const text = await scrape(service);
    const count = (operation: string, status: number) =>
      valueIn(text, `payments_requests_total{operation="${operation}",status="${status}"}`);
    expect(count('listTransactions', 200)).toBe(1);
    expect([count('createPaymentMethod', 201), count('createPaymentMethod', 429)]).toEqual([2, 1]);
    expect(valueIn(text, 'payments_requests_limited_total{operation="createPaymentMethod"}')).toBe(1);
    expect(valueIn(text, 'payments_request_duration_seconds_count{operation="createPaymentMethod"}')).toBe(3);
    expect(count('listCardSchemeDefinitions', 500)).toBe(1);
    expect(valueIn(text, 'payments_contract_faults_total{kind="answer"}')).toBe(1);
    expect(valueIn(text, 'payments_contract_faults_total{kind="event"}')).toBe(0);
    expect(valueIn(text, 'payments_database_connections_most{pool="requests"}')).toBe(10);
    expect(valueIn(text, 'payments_database_connections_waiting{pool="requests"}')).toBe(0);
    expect(valueIn(text, 'payments_webhook_queue{when="due"}')).toBe(0);
    expect(valueIn(text, 'payments_webhook_oldest_event_seconds')).toBe(0);
    expect(valueIn(text, 'payments_clock_ahead_seconds')).toBeGreaterThan(30);
    expect(valueIn(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(valueIn(text, 'nodejs_heap_size_used_bytes')).toBeGreaterThan(0);
  });

  it('tells the version, and without a build no commit', async () => {
    const series = `payments_build_info{revision="",version="${contractVersion}"}`;
    expect(valueIn(await fetchMetrics(service), series)).toBe(1);
  });

  it('has no more series after requests with many paths, methods and IDs', async () => {
    const strange = async (from: number) => {
      for (let index = from; index < from + 20; index++) {
        await fetch(`${service.url}/unicorns/${index}`, {
          headers: { 'X-Request-ID': `id-${index}`, Authorization: `Bearer ${index}` },
        });
        await fetch(`${service.url}/transactions/${index}?x${index}=1`, { method: 'DELETE' });
        await fetch(`${service.url}/approve/${index}`);
      }
    };
    const seriesOf = (text: string) => text.split('\n').filter((line) => line.startsWith('payments_')).length;
    await strange(0);
    const before = await scrape(service);
    await strange(20);
    const after = await scrape(service);
    expect(seriesOf(after)).toBe(seriesOf(before));
    const named = new Set([...after.matchAll(/operation="([^"]*)"/g)].map(([, name = '']) => name));
    expect([...named].filter((name) => !(name in operations) && name !== 'none')).toEqual([]);
  });

  it('serves them at /metrics of that port only', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    const port = service.service.metricsPort ?? 0;
    for (const [path, method] of [
      ['/', 'GET'],
      ['/metrics?x=1', 'GET'],
      ['/metrics', 'POST'],
    ])
      expect((await fetch(`http://127.0.0.1:${port}${path ?? ''}`, { method: method ?? '' })).status).toBe(
        404,
      );
  });

  it('answers at /healthz too, also while no connection is left for callers', async () => {
    const { connections } = limits;
    onTestFinished(() => void (limits.connections = connections));
    limits.connections = 3;
    await using own = await startTestService({ config: metrics });
    const silent = Array.from({ length: 10 }, () =>
      connect(own.service.port, '127.0.0.1').on('error', () => undefined),
    );
    await eventually(async () => (await own.service.connections()) === 3, 'the connections are taken');
    await expect(fetch(`${own.url}/healthz`)).rejects.toThrow();
    const answer = await fetch(`http://127.0.0.1:${own.service.metricsPort ?? 0}/healthz`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
    for (const socket of silent) socket.destroy();
  });

  it('are explained in docs/operating.md, but for the defaults of prom-client', async () => {
    const text = readFileSync(join(root, 'docs/operating.md'), 'utf8');
    const names = namesIn(await fetchMetrics(service));
    expect(names.length).toBeGreaterThan(20);
    const isDefault = (name: string) => /^(nodejs|process)_/.test(name);
    expect(names.filter((name) => !isDefault(name) && !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('are those that dashboard and alerts use, and each alert says what to do', async () => {
    const dashboard = JSON.parse(readFileSync(join(root, 'docs/monitoring/dashboard.json'), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const alerts = parse(readFileSync(join(root, 'docs/monitoring/alerts.yaml'), 'utf8')) as {
      groups: { rules: { alert: string; expr: string; annotations: { description?: string } }[] }[];
    };
    const rules = alerts.groups.flatMap((group) => group.rules);
    const used = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...rules.map(({ expr }) => expr),
    ].flatMap((expr) => expr.match(/\b(payments|nodejs|process)_\w+/g) ?? []);
    const existing = new Set(namesIn(await fetchMetrics(service)));
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !existing.has(name.replace(/_(bucket|sum|count)$/, '')))).toEqual([]);
    expect(rules.filter(({ annotations }) => !annotations.description)).toEqual([]);
    // Which statuses the first series of an alert has.
    const counted = (name: string) => {
      const [series = ''] = /\{.*?\}/.exec(rules.find(({ alert }) => alert === name)?.expr ?? '') ?? [];
      const matchers = [...series.matchAll(/status(=~|!=|=)"([^"]*)"/g)];
      return ['200', '429', '500', '502', '504'].filter((status) =>
        matchers.every(
          ([, operator, value = '']) => new RegExp(`^(${value})$`).test(status) !== (operator === '!='),
        ),
      );
    };
    expect([counted('PaymentsErrors'), counted('PaymentsOutage')]).toEqual([['500', '502'], ['504']]);
  });
});

describe('deliveries', () => {
  it('are counted by outcome, and what waits has an age', async () => {
    await using service = await startTestService({ config: metrics });
    await using receiver = await startReceiver();
    const token = service.token('*.read', '*.write');
    const subscribe = (url: string) =>
      service.call('POST', '/webhook-subscriptions', { token, body: { url } });
    await subscribe(receiver.url);
    // Nothing listens there.
    await subscribe('http://127.0.0.1:9/');
    const valueOf = async (series: string) => valueIn(await scrape(service), series);
    const attempts = (outcome: string) => valueOf(`payments_webhook_attempts_total{outcome="${outcome}"}`);
    // Only when they are recorded, so that attempts and queue tell the same.
    await withClient(service.config.databaseUrl ?? '', async (client) => {
      await client.query('begin; lock table delivery_attempts in share mode');
      await service.call('POST', '/payment-methods', { token, body: card });
      const waiting = `select from pg_locks where relation = 'delivery_attempts'::regclass and not granted`;
      await eventually(
        async () => (await client.query(waiting)).rowCount === 1,
        'an attempt is being recorded',
      );
      expect([await attempts('succeeded'), await attempts('retried')]).toEqual([0, 0]);
      await client.query('commit');
    });
    await eventually(async () => (await attempts('succeeded')) === 1, 'one is delivered');
    await eventually(async () => (await attempts('retried')) === 1, 'the other is tried again later');
    expect(await attempts('given_up')).toBe(0);
    expect(await valueOf('payments_webhook_queue{when="later"}')).toBe(1);
    expect(await valueOf('payments_webhook_oldest_event_seconds')).toBeGreaterThan(0);
  });
});

describe('providers', () => {
  it('are counted by outcome, and cards that they left in processing are counted and have an age', async () => {
    const late = new DOMException('no answer', 'TimeoutError');
    let verifyCard: VerifyCard = () => Promise.reject(new Error('down'));
    const balances: GiftCardProvider[] = [
      () => Promise.reject(late),
      () => Promise.resolve([]),
      () => Promise.resolve([{ balance: 1, currency: 'EUR', expirationDate: null }]),
    ];
    await using service = await startTestService({
      config: metrics,
      providers: {
        verifyCard: (...given) => verifyCard(...given),
        giftCards: (...given) => balances.shift()?.(...given) ?? Promise.reject(late),
        describeCard: () => 'nonsense' as never,
      },
    });
    const { db } = service.service.database;
    await db.deleteFrom('payment_methods').execute();
    const read = async () => {
      const text = await scrape(service);
      const calls = (provider: string) =>
        ['answered', 'timed_out', 'failed'].map((outcome) =>
          valueIn(text, `payments_provider_calls_total{provider="${provider}",outcome="${outcome}"}`),
        );
      const [cards, oldest] = ['payments_cards_processing', 'payments_cards_processing_oldest_seconds'].map(
        (series) => valueIn(text, series),
      );
      return { calls: ['verifyCard', 'giftCards', 'describeCard'].map(calls), cards, oldest };
    };
    const none = [0, 0, 0];
    expect(await read()).toEqual({ calls: [none, none, none], cards: 0, oldest: 0 });
    const post = (path: string, body: object) =>
      service.call('POST', path, { token: service.token('*.read', '*.write'), body });
    const ids = await Promise.all(
      [1, 2].map(async () => ((await post('/payment-methods', card)).body as { id: string }).id),
    );
    verifyCard = () => Promise.resolve({ status: 'succeeded' });
    await post('/payment-methods', card);
    for (const pin of ['1', '2', '3'])
      await post('/gift-cards/balances', { items: [{ number: '9999000050001234', pin }] });
    await db
      .updateTable('payment_methods')
      .set({ created_at: sql`now() - interval '2 hours'` })
      .where('id', '=', ids[0] ?? '')
      .execute();
    const { calls, cards, oldest } = await read();
    expect([calls, cards]).toEqual([
      [
        [1, 0, 2],
        [1, 1, 1],
        [0, 0, 3],
      ],
      2,
    ]);
    expect(Math.floor((oldest ?? 0) / 3600)).toBe(2);
    // Found by an index, however many other cards there are.
    const { rows } = await sql<{ definition: string }>`
      select pg_get_indexdef('payment_methods_processing'::regclass) as definition`.execute(db);
    expect(rows[0]?.definition).toMatch(/\(created_at\) WHERE \(status = 'processing'/);
  });

  it('that are down are seen: an alert says how to verify the cards that wait', () => {
    const { groups } = parse(readFileSync(join(root, 'docs/monitoring/alerts.yaml'), 'utf8')) as {
      groups: { rules: { expr: string; annotations: { description: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    for (const metric of ['payments_provider_calls_total', 'payments_cards_processing_oldest_seconds'])
      expect(rules.find(({ expr }) => expr.includes(metric))?.annotations.description).toContain(
        'payments payment-methods verify --processing',
      );
  });
});

describe('without the database', () => {
  it('everything else is still served', async () => {
    const databaseUrl = await createTestDatabase();
    await using service = await startTestService({ config: { ...metrics, databaseUrl } });
    const name = new URL(databaseUrl).pathname.slice(1);
    const elsewhere = new URL(databaseUrl);
    elsewhere.pathname = '/postgres';
    await withClient(elsewhere.href, async (client) => {
      await client.query(`alter database ${name} allow_connections false`);
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    });
    const text = await scrape(service);
    expect(namesIn(text)).toContain('payments_requests_total');
    expect(text).toContain('payments_database_connections_in_use{pool="requests"}');
    expect(text).not.toMatch(
      /^payments_(webhook_(queue|oldest_event_seconds)|cards_processing(_oldest_seconds)?)[ {]/m,
    );
  });
});

describe('a port that is taken', () => {
  it('stops the start with a message that names the setting', async () => {
    await using first = await startTestService({ config: metrics });
    const taken = first.service.metricsPort ?? 0;
    // Looked at before the database, which would be migrated in vain.
    const vain = { metricsPort: taken, databaseUrl: 'postgres://nobody@127.0.0.1:9/none' };
    await expect(startTestService({ config: vain })).rejects.toThrow(
      `METRICS_PORT ${taken} is taken. Choose another: METRICS_PORT=${taken + 1}`,
    );
  });
});
