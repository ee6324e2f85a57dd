// One caller who floods, while commits are slow: limits stay exact over two instances, the flood takes no more than its share of the
// connections, its own answers are refusals and no faults, and another account is served.
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import jwt from 'jsonwebtoken';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { signToken, thumbprint } from '../../server/kit/access/token.ts';
import type { Db } from '../../server/kit/database/database.ts';
import { eventually } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { allCases } from '../support/random.ts';
import { createAccount } from '../support/records.ts';
import { startTestService, templateSecrets, type TestService } from '../support/service.ts';

/** As with a synchronous standby: a transaction that has changed something waits at its commit. */
const delayCommits = (db: Db, seconds: number) =>
  sql
    .raw(
      `create function wait_at_commit() returns trigger language plpgsql as $$ begin
         if current_setting('test.has_waited', true) is distinct from txid_current()::text then
           perform set_config('test.has_waited', txid_current()::text, true), pg_sleep(${seconds});
         end if;
         return null;
       end $$;
       do $$ declare name regclass; begin
         for name in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
           execute format('create constraint trigger wait_at_commit after insert or update or delete on %s
             deferrable initially deferred for each row execute function wait_at_commit()', name);
         end loop;
       end $$`,
    )
    .execute(db);

/** Card numbers, each another one. Those of one BIN are alike in their last four digits, too, or each in a bucket of its own. */
const createNumbers = (bin: string, areAlike: boolean) => {
  let index = 0;
  return () => {
    index += 1;
    const digits = String(index).padStart(4, '0');
    return areAlike ? `${bin}${digits}4242` : `${bin}4242${digits}`;
  };
};

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

let one: TestService;
let two: TestService;
beforeAll(async () => {
  const config = {
    databaseUrl: await createTestDatabase('furnished'),
    secrets: templateSecrets(),
    cardsPerMinute: 300,
  };
  [one, two] = await Promise.all([
    startTestService({ config, firstStart: false }),
    startTestService({ config, firstStart: false }),
  ]);
  await delayCommits(one.service.database.db, 0.02);
});
afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});

type Answer = Promise<{ status: number; text: string }>;

/** On a connection of its own: one that is kept may be closed by the service when it is used again. */
const post = (service: TestService, path: string, token: string, body: object, headers = {}): Answer =>
  new Promise((resolve, reject) => {
    const method = body === nothing ? 'GET' : 'POST';
    const type = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(service.url + path, { agent: false, method, headers: { ...type, ...headers } });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject).on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    sent.end(body === nothing ? undefined : JSON.stringify(body));
  });

const nothing = {};

/** Idempotency keys that nobody can use now, because a request that was refused has not given them back. */
async function countClaims(): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from idempotency_keys where answer_sealed is null`.execute(
    one.service.database.db,
  );
  return rows[0]?.total ?? NaN;
}

const list = (service: TestService, token: string) => post(service, '/transactions', token, nothing);

const balances = (service: TestService, token: string, account = 'default') =>
  post(
    service,
    '/gift-cards/balances',
    token,
    { items: [{ number: '9999000050001234', pin: '1234' }] },
    { 'X-Service-Merchant-Account-ID': account },
  );

const store = (service: TestService, token: string, number: string, headers = {}) =>
  post(service, '/payment-methods', token, { method: 'card', number, expiration_date: '12/39' }, headers);

async function tally(answers: Answer[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('200 at once, on two instances', () => {
  it('calls with one embed token: 50 are answered', async () => {
    const token = one.token('embed');
    const answers = times(200, (index) => balances(index % 2 === 0 ? one : two, token));
    expect(await tally(answers)).toEqual({ 200: 50, 429: 150 });
  });

  it('cards of one BIN and last four digits: 20 are stored', async () => {
    const numbers = times(200, createNumbers('41111111', true));
    const token = (await one.pair()).token('*.write');
    const answers = numbers.map((number, index) => store(index % 2 === 0 ? one : two, token, number));
    expect(await tally(answers)).toEqual({ 201: 20, 429: 180 });
  });

  it('PINs of two gift cards, in other orders: ten of each are looked up', async () => {
    const [first, second] = ['9999000050007001', '9999000050007002'];
    const check = async (index: number) => {
      const items = [first, second].map((number) => ({ number, pin: String(1000 + index) }));
      const { status, text } = await post(
        index % 2 === 0 ? one : two,
        '/gift-cards/balances',
        one.token('*.read', '*.write'),
        { items: index % 3 === 0 ? items.reverse() : items },
      );
      expect(status).toBe(200);
      return (JSON.parse(text) as { items: { balance_error_code: string | null }[] }).items;
    };
    const items = (await Promise.all(times(100, check))).flat();
    const refused = items.filter(({ balance_error_code: code }) => code === 'suspected_fraud');
    expect(items.length - refused.length).toBe(20);
  });
});

it('a counter over its limit, and a closed bucket, are not asked for again', async () => {
  const token = one.token('embed');
  const number = times(22, createNumbers('42222222', true));
  const writer = (await one.pair()).token('*.write');
  await tally(times(51, () => balances(one, token)));
  await tally(number.map((own) => store(one, writer, own)));
  const { rows } = await sql`select * from rate_limits, number_buckets`.execute(one.service.database.db);
  const again = [...times(20, () => balances(one, token)), ...number.map((own) => store(one, writer, own))];
  expect(Object.keys(await tally(again))).toEqual(['429']);
  const { rows: since } = await sql`select * from rate_limits, number_buckets`.execute(
    one.service.database.db,
  );
  // The cards are counted before their numbers are.
  const without = (all: unknown[]) =>
    all.filter((row) => !(row as { key: string }).key.startsWith('cards ')).map((row) => JSON.stringify(row));
  expect(without(since).sort()).toEqual(without(rows).sort());
});

/** 300 take long, and show the same. */
const many = allCases ? 300 : 40;

describe('a flood of many connections', () => {
  let owners: { token: string; pages: string; another: () => string };
  // A key pair for each test, because what it may store in a minute is limited, too.
  beforeEach(async () => {
    const pair = await one.pair({ accounts: ['marketplace'] });
    owners = {
      token: pair.token('*.write'),
      pages: pair.token('*.read'),
      another: () => signToken(pair.key, ['*.read'], 3_600),
    };
  });

  const nextNumber = createNumbers('43333333', false);

  /** How many connections the flood held at most, and the statuses of its answers and of another account's. */
  async function flood(call: (index: number) => Answer, connections = many, token = () => owners.pages) {
    const { usage } = one.service.database;
    let most = 0;
    const looking = setInterval(() => (most = Math.max(most, usage().inUse)), 1);
    const answers = times(connections, async (index) => {
      const statuses = [];
      for (let n = 0; n < 3; n += 1) statuses.push((await call(3 * index + n)).status);
      return statuses;
    });
    const end = new AbortController();
    const flooding = Promise.all(answers).finally(() => {
      end.abort();
    });
    const served: number[] = [];
    let pages = 0;
    while (!end.signal.aborted) {
      served.push((await list(one, token())).status);
      pages += 1;
      served.push((await store(one, owners.token, nextNumber())).status);
    }
    clearInterval(looking);
    return {
      // The other account has one request at a time. One more may be looking at a key pair: nobody knows yet whose request it is.
      held: most - 2,
      statuses: new Set((await flooding).flat()),
      served: new Set(served),
      pages,
    };
  }

  it.each<[string, () => Promise<(index: number) => Answer>]>([
    [
      'with one embed token',
      () => {
        const token = one.token('embed');
        return Promise.resolve(() => balances(one, token));
      },
    ],
    [
      'with 300 embed tokens of a key pair',
      async () => {
        const { key } = await one.pair();
        const tokens = times(300, () => signToken(key, ['embed'], 3600));
        // The look-ups for tokens that were not verified yet have connections of their own: see below.
        for (const token of tokens) await balances(one, token);
        return (index) => balances(one, tokens[index % 300] ?? '');
      },
    ],
    [
      'with an embed token of a key pair with 3,000 accounts',
      async () => {
        const { db } = one.service.database;
        await sql`insert into merchant_accounts (id, display_name)
          select 'many-' || n, 'Many' from generate_series(1, 3000) n`.execute(db);
        const { key } = await one.pair({ accounts: times(3_000, (n) => `many-${n + 1}`) });
        const tokens = times(50, () => signToken(key, ['embed'], 3600));
        for (const token of tokens) await balances(one, token, 'many-1');
        return (index) => balances(one, tokens[index % 50] ?? '', `many-${index + 1}`);
      },
    ],
    [
      'of cards over their limit, with keys',
      async () => {
        const token = (await one.pair()).token('*.write');
        const number = createNumbers('44444444', false);
        return (index) => store(one, token, number(), { 'Idempotency-Key': `flood ${index}` });
      },
    ],
    [
      'of cards of one bucket',
      async () => {
        const token = (await one.pair()).token('*.write');
        const number = createNumbers('45555555', true);
        return () => store(one, token, number());
      },
    ],
    [
      'of cards of a key pair with twenty accounts',
      async () => {
        const accounts = times(20, (n) => `twenty-${n + 1}`);
        for (const id of accounts) await createAccount(one.service.database.db, { id, display_name: id });
        const token = (await one.pair({ accounts })).token('*.write');
        const number = createNumbers('46666666', false);
        return (index) =>
          store(one, token, number(), { 'X-Service-Merchant-Account-ID': accounts[index % 20] });
      },
    ],
    [
      'of pages of 100',
      () => {
        const token = one.token('*.read');
        return Promise.resolve(() => post(one, '/transactions?limit=100', token, nothing));
      },
    ],
    [
      'of searches in all accounts',
      () => {
        const token = one.token('*.read');
        const everywhere = { 'X-Service-Merchant-Account-ID': '*' };
        return Promise.resolve(() =>
          post(one, '/transactions?search=nobody&limit=100', token, nothing, everywhere),
        );
      },
    ],
  ])(`${many} %s take their share, and another account is served`, async (_name, prepare) => {
    const { held, statuses, served } = await flood(await prepare());
    expect(held).toBeLessThanOrEqual(6);
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect([...served].sort()).toEqual([200, 201]);
    await eventually(async () => (await countClaims()) === 0, 'all keys are given back');
  });

  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const withWrongSignature = (token: string) => token.slice(0, -8) + randomBytes(6).toString('base64url');
  const unknownKeyIds = () => {
    const [, rest] = /\.(.*)/.exec(one.token('*.read')) ?? [];
    const header = () => ({ alg: 'ES512', typ: 'JWT', kid: randomBytes(32).toString('base64url') });
    return () => `${base64url(header())}.${rest}`;
  };
  /** Tokens that are refused, and how many of them have a signature that must be checked. */
  const refused: [string, number, () => Promise<() => string>][] = [
    [
      'with wrong signatures',
      1,
      async () => {
        const token = (await one.pair()).token('*.read');
        return () => withWrongSignature(token);
      },
    ],
    [
      'with tokens that have expired',
      0,
      async () => {
        const { key } = await one.pair();
        const options = { algorithm: 'ES512', keyid: thumbprint(key), expiresIn: -3600 } as const;
        const token = jwt.sign({ scopes: ['*.read'] }, key, options);
        return () => token;
      },
    ],
    ['with unknown key IDs', 0, () => Promise.resolve(unknownKeyIds())],
  ];

  it('of unknown key IDs leaves connections to others', async () => {
    const { usage } = one.service.database;
    const next = unknownKeyIds();
    await list(one, owners.pages);
    await two.service.database.db.transaction().execute(async (tx) => {
      await sql`lock table api_key_pairs in access exclusive mode`.execute(tx);
      const answers = tally(times(40, () => list(one, next())));
      await eventually(() => usage().inUse + usage().waiting >= 40, 'all of them look up their key ID');
      expect(usage().inUse).toBe(6);
      await sql`rollback`.execute(tx);
      expect(await answers).toEqual({ 401: 40 });
    });
  });

  it.each(
    [40, ...(allCases ? [300] : [])].flatMap((connections) =>
      refused.map((one) => [connections, ...one] as const),
    ),
  )('%i %s are refused, and another account is served', async (connections, _name, checksOfEach, prepare) => {
    const next = await prepare();
    await Promise.all([list(one, owners.pages), store(one, owners.token, nextNumber())]);
    const verify = vi.spyOn(jwt, 'verify');
    onTestFinished(() => {
      verify.mockRestore();
    });
    const logged = one.logs.length;
    // Those of another account, too, have tokens that nobody has verified yet.
    const { statuses, served, pages } = await flood(() => list(one, next()), connections, owners.another);
    expect(verify).toHaveBeenCalledTimes(checksOfEach * 3 * connections + pages);
    const heldBack = one.logs.slice(logged).filter((line) => {
      const { status, ms } = JSON.parse(line) as { status?: number; ms: number };
      return status === 401 && ms >= 250;
    });
    // Of the others some are refused at once: bearer.test.ts counts them, by a clock that stands still.
    expect(heldBack.length).toBeGreaterThanOrEqual(checksOfEach * 3 * connections);
    expect([...statuses]).toEqual([401]);
    expect([...served].sort()).toEqual([200, 201]);
  });

  it('300 that hang up before they are refused end as any other that do', async () => {
    const token = (await one.pair()).token('*.read');
    const logged = one.logs.length;
    const { hostname, port } = new URL(one.url);
    for (let index = 0; index < 300; index += 1) {
      const authorization = `Authorization: Bearer ${withWrongSignature(token)}`;
      connect(Number(port), hostname)
        .on('error', () => undefined)
        .end(`GET /transactions HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`);
    }
    const ended = () => one.logs.slice(logged).filter((line) => line.includes('"path":"/transactions"'));
    await eventually(() => ended().length === 300, 'all requests have ended');
    expect(new Set(ended().map((line) => (JSON.parse(line) as { status: unknown }).status))).toEqual(
      new Set(['aborted']),
    );
    expect((await list(one, token)).status).toBe(200);
    expect(
      one.logs.slice(logged).filter((line) => (JSON.parse(line) as { level: number }).level > 30),
    ).toEqual([]);
  });
});
