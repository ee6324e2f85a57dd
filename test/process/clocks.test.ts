// The clock of one instance is 30 s ahead of the database's and of the callers', that of another 30 s behind: tokens, limits,
// idempotency keys and webhooks work on both as if their clocks were right. And a clock is set back while a service runs.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken } from '../../server/resources/api-key-pairs/token.ts';
import { createCaller, type Caller } from '../support/call.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { keyIn } from '../support/keys.ts';
import { startServer, type Server } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';

/** Loaded before the service: `new Date()` and `Date.now()` are wrong by so many seconds, perhaps only after SIGUSR2. */
const wrongClock = (seconds: number, { isRightFirst = false } = {}) => {
  const module = `const Right = Date;
    let wrong = ${isRightFirst ? 0 : seconds * 1000};
    process.on('SIGUSR2', () => { wrong = ${seconds * 1000}; });
    globalThis.Date = class extends Right {
      constructor(...args) { if (args.length === 0) super(Right.now() + wrong); else super(...args); }
      static now() { return Right.now() + wrong; }
    };`;
  return `--import=data:text/javascript;base64,${Buffer.from(module).toString('base64')}`;
};

describe('instances whose clocks are 30 s wrong', () => {
  let dataDir: DataDir;
  let databaseUrl: string;
  const servers: Server[] = [];
  let ahead: Caller;
  let behind: Caller;
  let tokenOf: (scopes: string[], seconds?: number) => string;

  beforeAll(async () => {
    dataDir = await newDataDir();
    databaseUrl = await createTestDatabase();
    const start = (seconds: number, worker: 'on' | 'off') =>
      startServer({
        DATA_DIR: dataDir.path,
        DATABASE_URL: databaseUrl,
        NODE_OPTIONS: wrongClock(seconds),
        WEBHOOK_WORKER: worker,
      });
    servers.push(await start(30, 'off'));
    servers.push(await start(-30, 'on'));
    const [first, second] = servers.map(({ url }) => createCaller(url));
    if (!first || !second) throw new Error('Both must run.');
    [ahead, behind] = [first, second];
    const key = keyIn(dataDir.path);
    tokenOf = (scopes, seconds = 3600) => signToken(key, scopes, seconds);
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });

  it('their clocks are wrong', () => {
    const times = servers.map(
      ({ output }) => /"time":"([^"]+)".*"msg":"listening"/.exec(output())?.[1] ?? '',
    );
    const [first = 0, second = 0] = times.map((time) => (Date.parse(time) - Date.now()) / 1000);
    expect(first).toBeGreaterThan(0);
    expect(second).toBeLessThan(-29);
  });

  it('accept a token from its first to its last second', async () => {
    const token = tokenOf(['*.read'], 10);
    for (const call of [ahead, behind])
      expect((await call('GET', '/card-scheme-definitions', { token })).status).toBe(200);
  });

  it('count calls together, and say when the next one is allowed', async () => {
    const token = tokenOf(['embed']);
    const body = { items: [{ number: '4123456789012345', pin: '1234' }] };
    // The one that is behind begins: by the clock of the other, its window would have ended before.
    const first = await behind('POST', '/gift-cards/balances', { token, body });
    const others = await Promise.all(
      Array.from({ length: 59 }, (_, index) =>
        (index % 2 === 0 ? ahead : behind)('POST', '/gift-cards/balances', { token, body }),
      ),
    );
    const answers = [first, ...others];
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(10);
    for (const { headers } of limited) expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  it('repeat each other’s answers for an Idempotency-Key', async () => {
    const token = tokenOf(['*.write']);
    const headers = { 'Idempotency-Key': randomUUID() };
    const store = (call: Caller) => call('POST', '/payment-methods', { token, body: card, headers });
    const first = await store(ahead);
    const second = await store(behind);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect((second.body as { id: string }).id).toBe((first.body as { id: string }).id);
  });

  it('deliver an event at once, and retry it after the seconds of the schedule', async () => {
    await using receiver = await startReceiver((res) => res.writeHead(500).end());
    const token = tokenOf(['*.write']);
    const body = { url: receiver.url };
    expect((await behind('POST', '/webhook-subscriptions', { token, body })).status).toBe(201);
    await ahead('POST', '/payment-methods', { token, body: card });
    await receiver.received(1);
    // How long the delivery waits for its second attempt, by the clock of the database: 5 s with some jitter.
    const seconds = await withClient(databaseUrl, async (client) => {
      const query = `select extract(epoch from due_at - updated_at)::float as seconds from deliveries where attempts = 1`;
      const find = async () => (await client.query<{ seconds: number }>(query)).rows[0]?.seconds;
      let found = await find();
      while (found === undefined) found = await find();
      return found;
    });
    expect(seconds).toBeGreaterThan(2);
    expect(seconds).toBeLessThan(10);
  });
});

it('a key pair that is deactivated is refused, also if the clock is then set back', async () => {
  await using dataDir = await newDataDir();
  const databaseUrl = await createTestDatabase();
  await using server = await startServer({
    DATA_DIR: dataDir.path,
    DATABASE_URL: databaseUrl,
    NODE_OPTIONS: wrongClock(-50, { isRightFirst: true }),
  });
  const key = keyIn(dataDir.path);
  const token = signToken(key, ['*.read'], 3600);
  const call = createCaller(server.url);
  const status = async () => (await call('GET', '/card-scheme-definitions', { token })).status;
  expect(await status()).toBe(200);
  server.signal('SIGUSR2');
  await withClient(databaseUrl, (client) => client.query('update api_key_pairs set active = false'));
  await eventually(async () => (await status()) === 401, 'the pair is refused');
});
