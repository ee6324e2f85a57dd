// The clock of one instance is 30 s ahead of the database's and of the callers', that of another 30 s behind: tokens, limits,
// idempotency keys and webhooks work on both as if their clocks were right. With clocks that are days wrong, tokens are judged by them, and
// all that instances share is not. And a clock is set back while a service runs.
import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken, thumbprint } from '../../server/kit/access/token.ts';
import { passesLuhn } from '../../server/kit/rules/card-numbers.ts';
import { createCaller, type Caller, type CallOptions } from '../support/call.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { keyIn } from '../support/keys.ts';
import { startServer, type Server } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { verify } from '../support/webhooks.ts';

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

const day = 86_400;

describe('instances whose clocks are four days ahead and forty days behind', () => {
  let dataDir: DataDir;
  let databaseUrl: string;
  const servers: Server[] = [];
  /** Each with a token that is valid by its own clock. */
  const callers: ((method: string, path: string, options?: CallOptions) => ReturnType<Caller>)[] = [];
  const key = randomUUID();
  let first: string;
  const query = async <Row extends object>(text: string) =>
    (await withClient(databaseUrl, (client) => client.query<Row>(text))).rows;
  const start = async (seconds: number) => {
    const server = await startServer({
      DATA_DIR: dataDir.path,
      DATABASE_URL: databaseUrl,
      NODE_OPTIONS: wrongClock(seconds),
      LOG_LEVEL: 'debug',
    });
    servers.push(server);
    const privateKey = keyIn(dataDir.path);
    const iat = Math.floor(Date.now() / 1000) + seconds;
    const token = jwt.sign({ scopes: ['*.read', '*.write'], iat, exp: iat + 3600 }, privateKey, {
      algorithm: 'ES512',
      keyid: thumbprint(privateKey),
    });
    const call = createCaller(server.url);
    callers.push((method, path, options) => call(method, path, { token, ...options }));
    return server;
  };
  /** One call after the other to each of them, several at once. */
  const spread = <T>(number: number, work: (call: (typeof callers)[number], index: number) => Promise<T>) =>
    Promise.all(
      Array.from({ length: number }, async (_, index) => {
        const call = callers[index % callers.length];
        if (!call) throw new Error('They must run.');
        return work(call, index);
      }),
    );
  const store = (call: (typeof callers)[number], body: object, idempotencyKey: string) =>
    call('POST', '/payment-methods', { body, headers: { 'Idempotency-Key': idempotencyKey } });
  const tryPin = async (call: (typeof callers)[number], number: string, pin: string) => {
    const { body } = await call('POST', '/gift-cards/balances', { body: { items: [{ number, pin }] } });
    return (body as { items: { balance_error_code?: string }[] }).items[0]?.balance_error_code;
  };
  /** Different numbers with the same BIN and last four digits. */
  const alike = Array.from({ length: 10_000 }, (_, index) => `40128888${String(index).padStart(4, '0')}1881`)
    .filter(passesLuhn)
    .slice(0, 60);

  beforeAll(async () => {
    dataDir = await newDataDir();
    databaseUrl = await createTestDatabase();
    // The rows exist before those instances start, which then run their daily jobs at once.
    await start(0);
    const [right] = callers;
    if (!right) throw new Error('It must run.');
    first = ((await store(right, card, key)).body as { id: string }).id;
    await tryPin(right, '9999000125505678', 'first');
    await store(right, { ...card, number: alike[0] }, randomUUID());
    await start(4 * day);
    await start(-40 * day);
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });

  it('run the daily jobs, and say that their clocks are wrong', async () => {
    for (const { output } of servers)
      await eventually(
        () => /card-numbers-of-1\.0|another instance runs the daily jobs/.test(output()),
        'the daily jobs are done',
      );
    const said = servers.map(({ output }) => /the clock of this machine is (\d+) s (\w+)/.exec(output()));
    expect(said.map((one) => one?.[2])).toEqual([undefined, 'ahead', 'behind']);
    expect(Math.abs(Number(said[1]?.[1]) - 4 * day)).toBeLessThan(60);
  });

  it('store no second card for a key, and lose no event', async () => {
    const keys = Array.from({ length: 20 }, () => randomUUID());
    const repeated = await spread(60, (call, index) =>
      store(call, card, index < 20 ? key : (keys[index % 20] ?? '')),
    );
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set([201]));
    const ids = repeated.map(({ body }) => (body as { id: string }).id);
    expect(new Set(ids.slice(0, 20))).toEqual(new Set([first]));
    expect(new Set(ids.slice(20)).size).toBe(20);
    const [events] = await query<{ created: number; late: number }>(`
      select count(*)::integer as created, (count(*) filter (where abs(extract(epoch from now() - created_at)) > 300))::integer as late
      from events where name = 'payment-method.created'`);
    // The two from before, and one of each key.
    expect(events).toEqual({ created: 22, late: 0 });
    const [cards] = await query<{ late: number }>(`
      select count(*)::integer as late from payment_methods where updated_at < created_at or updated_at > now()`);
    expect(cards).toEqual({ late: 0 });
  });

  it('accept no PIN and no number beyond the limits', async () => {
    const pins = await spread(60, (call, index) => tryPin(call, '9999000125505678', `pin ${index}`));
    expect(pins.filter((code) => code !== 'suspected_fraud')).toHaveLength(9);
    const numbers = await spread(59, (call, index) =>
      store(call, { ...card, number: alike[index + 1] }, randomUUID()),
    );
    expect(numbers.filter(({ status }) => status === 201)).toHaveLength(19);
    expect(numbers.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  it('deliver what they store, signed with a time that the receiver accepts', async () => {
    await using receiver = await startReceiver();
    const [right, ahead, behind] = callers;
    if (!right || !ahead || !behind) throw new Error('They must run.');
    const { secret } = (await right('POST', '/webhook-subscriptions', { body: { url: receiver.url } }))
      .body as { secret: string };
    for (const call of [ahead, behind]) await store(call, card, randomUUID());
    await receiver.received(2);
    for (const one of receiver.got) expect(verify(secret, one).name).toBe('payment-method.created');
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
