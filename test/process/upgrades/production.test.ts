// Production on PostgreSQL 15 under load: a release alone, this version beside it, this version alone, and the release again. Nothing that
// was acknowledged is lost, no key makes two cards, and every event is delivered.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startBalancer, type Balancer } from '../../support/balancer.ts';
import { card } from '../../support/card.ts';
import { eventually } from '../../support/data-dir.ts';
import { query } from '../../support/database.ts';
import { certificate, certificateFile } from '../../support/keys.ts';
import { checkOut, startPostgres } from '../../support/old-version.ts';
import { root, startNode, startServer } from '../../support/processes.ts';
import { startReceiver } from '../../support/receiver.ts';
import { transaction } from '../../support/transactions.ts';
import { releases } from './releases.ts';

const cardsPerPhase = 300;
const clientsAtOnce = 4;

// Production delivers to public addresses only. As a router could, this leads one of them to the receiver of the test.
const publicAddress = '9.9.9.9';
const route = `import tls from 'node:tls';
const { connect } = tls;
tls.connect = (options, ...rest) =>
  connect(options.host === '${publicAddress}' ? { ...options, host: '127.0.0.1' } : options, ...rest);`;

let postgres: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => {
  postgres.stop();
});

/** What it starts is stopped at the end of the test, also if something else does not start. */
function untilFinished<T extends AsyncDisposable>(started: T): T {
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

/** On a busy machine an instance may seem to be away for a moment, and 1.0.0 resets some requests when it stops. */
const isUnanswered = (error: unknown) =>
  (error instanceof TypeError && error.cause !== undefined) ||
  (error instanceof Error && error.message === 'No instance is ready.');

/**
 * Clients that store cards and read pages until they are stopped. Each card is sent twice at the same time, with one key: to two instances,
 * if there are two. A request without a response is repeated, as the contract says.
 */
function startLoad({ call }: Balancer, token: string, transactions: string[]) {
  /** The response to each key. */
  const acknowledged = new Map<string, string>();
  const faults: string[] = [];
  let over = false;
  const repeat: Balancer['call'] = async (...args) => {
    for (;;)
      try {
        return await call(...args);
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        await wait(50);
      }
  };
  const store = (key: string) =>
    repeat('POST', '/payment-methods', { token, body: card, headers: { 'Idempotency-Key': key } });
  const storeTwice = async () => {
    const key = randomUUID();
    const [one, other] = await Promise.all([store(key), store(key)]);
    expect([one.status, other.text]).toEqual([201, one.text]);
    acknowledged.set(key, one.text);
  };
  /** Each page may come from another version. */
  const readPages = async () => {
    const read: string[] = [];
    for (let cursor: string | null | undefined = ''; typeof cursor === 'string';) {
      const path = `/transactions?limit=5${cursor && `&cursor=${cursor}`}`;
      const { status, body } = await repeat('GET', path, { token });
      expect(status).toBe(200);
      const page = body as { items: { id: string }[]; next_cursor?: string | null };
      read.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(read.toSorted()).toEqual(transactions);
  };
  const clients = Array.from({ length: clientsAtOnce }, async () => {
    for (let turn = 1; !over && faults.length === 0; turn += 1)
      await (turn % 20 === 0 ? readPages() : storeTwice()).catch((error: unknown) => {
        faults.push(String(error));
      });
  });
  const stop = async () => {
    over = true;
    await Promise.all(clients);
  };
  onTestFinished(stop);
  return {
    acknowledged,
    faults,
    stop,
    /** Until so many more cards are stored; then every tenth key so far is repeated. */
    phase: async () => {
      const goal = acknowledged.size + cardsPerPhase;
      await eventually(() => faults.length > 0 || acknowledged.size >= goal, `${goal} cards are stored`, 300);
      expect(faults).toEqual([]);
      for (const [key, text] of [...acknowledged].filter((_, index) => index % 10 === 0)) {
        const { headers, ...repeated } = await store(key);
        expect([repeated.text, headers.get('idempotency-replayed')]).toEqual([text, 'true']);
      }
    },
  };
}

it.each(releases)(
  '$version is upgraded without downtime, and this version is replaced by it',
  async ({ version, commit }) => {
    const old = checkOut(commit);
    const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const name = `payments_${commit}`;
    await query(postgres.url, `create database ${name}`);
    const DATABASE_URL = postgres.url.replace(/postgres$/, name);
    const env = {
      ...{ ENVIRONMENT: 'production', PUBLIC_URL: 'https://pay.example', DATABASE_URL, DATA_DIR: folder },
      ...{ CARD_KEY: randomBytes(32).toString('base64'), CURSOR_KEY: randomBytes(32).toString('base64') },
      // For longer than the balancer looks away.
      ...{ CARDS_PER_MINUTE: 'off', SHUTDOWN_DELAY: '1' },
      NODE_EXTRA_CA_CERTS: certificateFile,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(route)}`,
    };
    const payments = async (cwd: string, line: string, input = '') => {
      const child = startNode('server/cli/main.ts', line.split(' '), { env, cwd });
      child.process.stdin.end(input);
      const { status, stdout, output } = await child.ended;
      expect(status, output).toBe(0);
      return stdout;
    };

    const key = join(folder, 'shop.pem');
    const scopes = 'payment-methods.write,transactions.read,webhook-subscriptions.write';
    await payments(old, 'accounts create default --name Default');
    await payments(old, `roles create shop --allow ${scopes}`);
    await payments(old, `keys create --name Shop --role shop --out ${key}`);
    const token = (await payments(old, `token --scopes ${scopes} --key ${key}`)).trim();
    const lines = Array.from({ length: 23 }, () =>
      transaction({ id: randomUUID(), buyer: null, payment_method: null }),
    );
    await payments(old, 'import transactions -', lines.map((line) => JSON.stringify(line)).join('\n'));

    const balancer = untilFinished(startBalancer());
    const start = async (cwd: string) => {
      const server = untilFinished(await startServer(env, cwd));
      await balancer.add(server.url);
      return server;
    };
    const stop = async (server: Awaited<ReturnType<typeof start>>) => {
      expect((await server.stop()).status).toBe(0);
    };
    const announced = new Set<string>();
    let secret = '';
    const receiver = untilFinished(
      await startReceiver((res, { headers, body }) => {
        const event = new Webhook(secret).verify(body, headers as Record<string, string>);
        announced.add((event as { target: { id: string } }).target.id);
        res.writeHead(204).end();
      }, certificate),
    );
    const first = await start(old);
    const subscribed = await balancer.call('POST', '/webhook-subscriptions', {
      token,
      body: { url: receiver.url.replace('127.0.0.1', publicAddress) },
    });
    ({ secret } = subscribed.body);

    const load = startLoad(balancer, token, lines.map(({ id }) => id).toSorted());
    await load.phase();
    const next = await start(root);
    await load.phase();
    await stop(first);
    await load.phase();
    const again = await start(old);
    await stop(next);
    await load.phase();
    await load.stop();
    expect(load.faults).toEqual([]);

    const acknowledged = [...load.acknowledged.values()].map(
      (text) => (JSON.parse(text) as { id: string }).id,
    );
    const { items } = JSON.parse(await payments(root, 'payment-methods list --limit 10000 --json')) as {
      items: { id: string }[];
    };
    // As many as there are keys, too: a key that had made two would show here.
    expect(items.map(({ id }) => id).toSorted()).toEqual(acknowledged.toSorted());
    await eventually(() => acknowledged.every((id) => announced.has(id)), 'every event was delivered', 180);
    expect(await payments(root, 'doctor')).toMatch(/\nAll \d+ checks passed\.\n$/);
    await stop(again);
    console.log(`${version}: ${acknowledged.length} cards, ${receiver.got.length} deliveries`);
  },
  900_000,
);
