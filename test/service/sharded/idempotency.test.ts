// Idempotency-Key at one instance: what a repeated request gets, for how long, and what is stored of it.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { handlers } from '../../../server/handlers/index.ts';
import { requestFingerprint, slotOf } from '../../../server/kit/idempotency/rules.ts';
import type { VerifyCard } from '../../../server/providers/cards.ts';
import { verifySimulatedCard } from '../../../server/providers/simulated.ts';
import { showsCode } from '../../support/digits.ts';
import { runs } from '../../support/random.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const card = { method: 'card', number: '4242424242424242', expiration_date: '12/39', security_code: '737' };
const hook = { url: 'https://shop.example/hooks', active: false };
const day = 86_400_000;

let service: TestService;
let token: string;
let verify: VerifyCard = verifySimulatedCard;
let crash: Error | undefined;
let usesNoUnit = false;
/** What the handler makes of the URL after the commit. */
let retouched: string | undefined;

beforeAll(async () => {
  service = await startTestService({
    config: { webhookWorker: false },
    providers: { verifyCard: (...given) => verify(...given) },
    handlers: {
      ...handlers,
      createWebhookSubscription: async (input, deps) => {
        // After the change, inside its unit of work.
        const inUnitOfWork: typeof deps.inUnitOfWork = (work) =>
          deps.inUnitOfWork(async (unit) => {
            const answer = await work(unit);
            if (crash) throw crash;
            return answer;
          });
        if (usesNoUnit) return { ...deps.example('createWebhookSubscription'), headers: {} };
        const answer = await handlers.createWebhookSubscription(input, { ...deps, inUnitOfWork });
        return retouched === undefined ? answer : { ...answer, body: { ...answer.body, url: retouched } };
      },
    },
  });
  token = service.token('*.read', '*.write');
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;

interface Sending {
  key?: string;
  account?: string;
  token?: string;
  headers?: Record<string, string>;
}

const post = async (path: string, body: unknown, { key, account, headers, ...given }: Sending = {}) => {
  const answer = await service.call('POST', path, {
    token: given.token ?? token,
    body,
    headers: {
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...(account === undefined ? {} : { 'X-Service-Merchant-Account-ID': account }),
      ...headers,
    },
  });
  return { ...answer, replayed: answer.headers.get('idempotency-replayed') };
};
const store = (sending?: Sending, more: object = {}) =>
  post('/payment-methods', { ...card, ...more }, sending);
const subscribe = (sending?: Sending, more: object = {}) =>
  post('/webhook-subscriptions', { ...hook, ...more }, sending);

const countCards = async () => {
  const { rows } = await sql<{ total: number }>`select count(*) as total from payment_methods`.execute(db());
  return rows[0]?.total ?? 0;
};
const reused = {
  detail: [
    {
      loc: ['header', 'idempotency-key'],
      msg: 'was used for a request with another path or body',
      type: 'value_error.idempotency_key.reused',
    },
  ],
};

describe('the same key and body', () => {
  it('get the first answer again, byte for byte, with an X-Request-ID of its own; nothing is stored twice', async () => {
    const key = randomUUID();
    const first = await store({ key });
    const before = await countCards();
    const second = await store({ key });
    expect([first.status, first.replayed, second.status, second.replayed]).toEqual([
      201,
      'false',
      201,
      'true',
    ]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await countCards()).toBe(before);
  });

  it('count as the same whatever the order of properties, null, the defaults, the account’s name and the security code', async () => {
    const key = randomUUID();
    const first = await store({ key });
    const { method, ...rest } = card;
    const again = await post('/payment-methods', { ...rest, method, security_code: '999' }, { key });
    const without = await post(
      '/payment-methods',
      { method, number: card.number, expiration_date: card.expiration_date },
      { key, account: 'default' },
    );
    const nulls = { security_code: null, external_identifier: null, redirect_url: null };
    const withNulls = await store({ key }, nulls);
    expect([again.text, without.text, withNulls.text]).toEqual([first.text, first.text, first.text]);
    const other = randomUUID();
    const made = await post('/webhook-subscriptions', { url: hook.url, active: true }, { key: other });
    expect((await post('/webhook-subscriptions', { url: hook.url }, { key: other })).text).toBe(made.text);
  });

  it('still need a token with the scope', async () => {
    const key = randomUUID();
    await store({ key });
    expect((await store({ key, token: service.token('*.read') })).status).toBe(403);
    expect((await store({ key, token: 'unicorn' })).status).toBe(401);
  });
});

describe('an answer', () => {
  it('is kept, too, if its handler used no unit of work', async () => {
    usesNoUnit = true;
    onTestFinished(() => void (usesNoUnit = false));
    const key = randomUUID();
    const first = await subscribe({ key });
    const second = await subscribe({ key });
    expect([first.status, first.replayed, second.replayed, second.text]).toEqual([
      201,
      'false',
      'true',
      first.text,
    ]);
  });

  it('that was committed is what is sent, with and without a key, whatever the handler makes of it', async () => {
    retouched = 'https://retouched.example/';
    onTestFinished(() => void (retouched = undefined));
    for (const key of [randomUUID(), undefined]) {
      const { status, text } = await subscribe({ ...(key !== undefined && { key }) });
      expect([status, text]).toEqual([201, expect.stringContaining(hook.url)]);
    }
  });
});

describe('another request with the same key', () => {
  it('in another merchant account, for all accounts or by another key pair is another key', async () => {
    const key = randomUUID();
    const pair = await service.pair();
    const made = [
      await subscribe({ key }),
      await subscribe({ key, account: 'marketplace' }, { url: 'https://other.example/' }),
      await subscribe({ key, account: '*' }, { url: 'https://third.example/' }),
      await subscribe({ key, token: pair.token('*.write') }, { url: 'https://fourth.example/' }),
    ];
    expect(made.map(({ status, replayed }) => [status, replayed])).toEqual(Array(4).fill([201, 'false']));
    expect(new Set(made.map(({ text }) => text)).size).toBe(4);
    // Another token of the same pair is the same caller.
    const again = await subscribe(
      { key, account: 'marketplace', token: service.token('*.write') },
      { url: 'https://other.example/' },
    );
    expect([again.text, again.replayed]).toEqual([made[1]?.text, 'true']);
  });
});

/** Code and reason in the log. The line may be written after the answer has arrived. */
const loggedRefusal = ({ headers }: { headers: Headers }) =>
  vi.waitFor(() => {
    const lines = service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    const { code, reason } = lines.find(({ requestId }) => requestId === headers.get('x-request-id')) ?? {};
    expect([typeof code, typeof reason]).toEqual(['string', 'string']);
    return { code, reason };
  });

describe('what is kept', () => {
  it.each([
    ['404', 404, { buyer_external_identifier: 'nobody' }],
    ['409', 409, { external_identifier: 'taken' }],
  ])('%s, although the state has changed since', async (_name, status, more) => {
    const key = randomUUID();
    const taken = status === 409 ? ((await store({}, more)).body as { id: string }) : undefined;
    const first = await store({ key }, more);
    expect([first.status, first.replayed]).toEqual([status, 'false']);
    await sql`
      insert into buyers (merchant_account_id, external_identifier) values ('default', 'nobody')
      on conflict do nothing`.execute(db());
    if (taken)
      await sql`update payment_methods set external_identifier = null where id = ${taken.id}`.execute(db());
    const second = await store({ key }, more);
    expect([second.status, second.text, second.replayed]).toEqual([status, first.text, 'true']);
    expect(await loggedRefusal(second)).toEqual(await loggedRefusal(first));
    expect((await store({ key: randomUUID() }, more)).status).toBe(201);
  });

  it('422, such as one subscription too many', async () => {
    const key = randomUUID();
    const sending = { key, account: 'marketplace' };
    await sql`
      insert into webhook_subscriptions (merchant_account_id, active, url, secret_sealed)
      select 'marketplace', true, 'https://many.example/', 'is not opened'
      from generate_series(1, 50)`.execute(db());
    const first = await subscribe(sending, { active: true });
    expect([first.status, first.replayed]).toEqual([422, 'false']);
    await sql`delete from webhook_subscriptions where url = 'https://many.example/'`.execute(db());
    const second = await subscribe(sending, { active: true });
    expect([second.status, second.text, second.replayed]).toEqual([422, first.text, 'true']);
    expect(await loggedRefusal(second)).toEqual(await loggedRefusal(first));
  });

  it('10,000 refusals of a key pair a day, further ones are answered and not kept; successes always are', async () => {
    const pair = await service.pair();
    await sql`insert into rate_limits values
      (${`kept refusals:${pair.id}`}, 9999, ${Date.now() + 3_600_000})`.execute(db());
    const refuse = async (key: string) => {
      const sending = { key, token: pair.token('*.write') };
      return (await store(sending, { buyer_id: randomUUID() })).status;
    };
    const [last, further] = [randomUUID(), randomUUID()];
    expect([await refuse(last), await refuse(further)]).toEqual([404, 404]);
    // Another buyer: 422 where the first answer is kept.
    expect([await refuse(last), await refuse(further)]).toEqual([422, 404]);
    const sending = { key: randomUUID(), token: pair.token('*.write') };
    expect([await store(sending), await store(sending)]).toMatchObject([
      { status: 201, replayed: 'false' },
      { status: 201, replayed: 'true' },
    ]);
    const kept = { key: randomUUID() };
    await store(kept, { buyer_id: randomUUID() });
    expect((await store(kept)).status).toBe(422);
  });

  it('not 401, 403 and 425', async () => {
    const key = randomUUID();
    const early = { key, headers: { 'Early-Data': '1' } };
    const refused = [
      await store({ key, token: 'unicorn' }),
      await store({ key, token: service.token('unicorns.write') }),
      await store(early),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 403, 425]);
    expect(await store({ key })).toMatchObject({ status: 201, replayed: 'false' });
  });

  it('not 500: the change was rolled back, and the repeated request is carried out, also with another body', async () => {
    const key = randomUUID();
    crash = new Error('the roof is on fire');
    const failed = await subscribe({ key }, { url: 'https://fire.example/' });
    crash = undefined;
    expect([failed.status, failed.replayed]).toEqual([500, 'false']);
    const second = await subscribe({ key }, { url: 'https://fire.example/2' });
    expect([second.status, second.replayed]).toEqual([201, 'false']);
    const rows = await db()
      .selectFrom('webhook_subscriptions')
      .select('url')
      .where('url', 'like', 'https://fire.example/%')
      .execute();
    expect(rows).toEqual([{ url: 'https://fire.example/2' }]);
  });

  // Citus has no triggers.
  it.skipIf(inject('cluster').isCitus)(
    'not a refusal that cannot be stored: it leaves no claim behind, and the repeated request is carried out',
    async () => {
      const key = randomUUID();
      const more = { buyer_external_identifier: 'no one' };
      await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$`.execute(
        db(),
      );
      await sql`
      create trigger refuse before update on idempotency_keys for each row execute function refuse()`.execute(
        db(),
      );
      const failed = await store({ key }, more);
      await sql`drop trigger refuse on idempotency_keys`.execute(db());
      expect([failed.status, failed.replayed]).toEqual([500, 'false']);
      const second = await store({ key }, more);
      expect([second.status, second.replayed]).toEqual([404, 'false']);
    },
  );

  it.each(['', 'ü', 'a\tb', 'x'.repeat(256)])('a key such as %j is 400', async (key) => {
    const { status, body } = await store({ key: Buffer.from(key).toString('latin1') });
    expect(status).toBe(400);
    expect(body).toMatchObject({ details: [{ location: 'header', pointer: '/idempotency-key' }] });
  });

  it('a read and a balance check have no keys', async () => {
    const headers = { 'Idempotency-Key': 'ü' };
    const body = { items: [{ number: '9999000050001234', pin: '1' }] };
    const answers = [
      await service.call('GET', '/transactions', { token, headers: { 'Idempotency-Key': '' } }),
      await service.call('POST', '/gift-cards/balances', { token, body, headers }),
    ];
    expect(answers.map(({ status, headers: sent }) => [status, sent.get('idempotency-replayed')])).toEqual([
      [200, null],
      [200, null],
    ]);
  });
});

/** Instead of moving the clock, with which every token would expire. In UTC, because Citus wants immutable functions. */
const age = (milliseconds: number) =>
  sql`
    update idempotency_keys
    set created_at = (created_at at time zone 'UTC' - make_interval(secs => ${milliseconds / 1000})) at time zone 'UTC'`.execute(
    db(),
  );

it('after 24 hours a key is new, whatever its body; until then it is kept', async () => {
  const key = randomUUID();
  const first = await store({ key });
  await age(day - 60_000);
  expect((await store({ key })).text).toBe(first.text);
  await age(60_000);
  const second = await store({ key }, { expiration_date: '10/39' });
  expect([second.status, second.replayed]).toEqual([201, 'false']);
  expect((await store({ key }, { expiration_date: '10/39' })).text).toBe(second.text);
});

describe('what is stored', () => {
  it('has no key, card data or secret in plain text, nor a digest that the security code is part of', async () => {
    const key = `jane.doe@example.com ${randomUUID()}`;
    const number = '4929123456789012';
    const made = await post('/payment-methods', { ...card, number, security_code: '8642' }, { key });
    const password = randomUUID();
    const authentication = { kind: 'basic', username: 'u', password };
    const secret = (await subscribe({ key: `${key} 2` }, { authentication })).body as { secret: string };
    const { rows } = await sql<{ row: string }>`
      select t::text as row from idempotency_keys t`.execute(db());
    const dump = rows.map(({ row }) => row).join('\n');
    expect(rows.length).toBeGreaterThan(1);
    const { fingerprint } = made.body as unknown as { fingerprint: string };
    for (const hidden of [key, 'jane', number, password, secret.secret, fingerprint])
      expect(dump).not.toContain(hidden);
    for (const code of ['9012', '8642']) expect(showsCode(dump, code)).toBe(false);
    expect(service.logs.join('')).not.toContain('jane');
  });
});

describe('while the first request is running', () => {
  // More than twice as many as there are connections.
  const many = 25;
  it(`${many} with the same key call the provider once and hold no connection: others are served meanwhile`, async () => {
    const key = randomUUID();
    let calls = 0;
    let start: () => void = () => undefined;
    let end: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (start = resolve));
    const ended = new Promise<void>((resolve) => (end = resolve));
    verify = async (...given) => {
      if (given[0].expiration_date !== '09/39') return verifySimulatedCard(...given);
      calls += 1;
      start();
      await ended;
      return verifySimulatedCard(...given);
    };
    // The clock of the five seconds stands still: on a slow machine the others would take longer.
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const before = await countCards();
      const repeated = Array.from({ length: many }, () => store({ key }, { expiration_date: '09/39' }));
      await started;
      expect((await store({ account: 'marketplace' })).status).toBe(201);
      // The same account is served too, because those that wait hold no connection.
      expect((await store({ key: randomUUID() })).status).toBe(201);
      const clash = await store({ key }, { expiration_date: '08/39' });
      expect([clash.status, clash.body]).toEqual([422, reused]);
      end();
      const answers = await Promise.all(repeated);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.map(({ replayed }) => replayed).sort()).toEqual([
        'false',
        ...Array<string>(many - 1).fill('true'),
      ]);
      expect([calls, await countCards()]).toEqual([1, before + 3]);
    } finally {
      vi.useRealTimers();
      end();
      verify = verifySimulatedCard;
    }
  });

  it('the second waits five seconds at most, and is then answered with 504', async () => {
    const key = randomUUID();
    // A claim of another instance, whose request takes long.
    const keys = await service.secrets.keysOf(db(), 'default');
    const { keyPairId } = await adminPair();
    const request = { method: 'POST', path: '/webhook-subscriptions', query: {}, body: hook };
    await sql`
      insert into idempotency_keys (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at)
      values ('default', ${slotOf(keys, { keyPairId, account: 'default' }, key)}, ${requestFingerprint(keys, request)},
        gen_random_uuid(), now() + interval '1 hour', now())`.execute(db());
    const second = await subscribe({ key });
    expect([second.status, second.replayed]).toEqual([504, 'false']);
    // Its process was killed: the claim lapses, and the request is carried out.
    await sql`update idempotency_keys set claimed_until = now() where claimed_until < 'infinity'`.execute(
      db(),
    );
    expect(await subscribe({ key })).toMatchObject({ status: 201, replayed: 'false' });
    expect(await subscribe({ key })).toMatchObject({ status: 201, replayed: 'true' });
  });

  it('one whose claim has lapsed changes nothing when another has taken it', async () => {
    const key = randomUUID();
    let taken = false;
    verify = async (...given) => {
      // As if this request had hung for long: another instance has carried out the repeated one.
      if (!taken) {
        taken = true;
        await sql`update idempotency_keys set claimed_until = now() where claimed_until < 'infinity'`.execute(
          db(),
        );
        expect(await store({ key })).toMatchObject({ status: 201, replayed: 'false' });
      }
      return verifySimulatedCard(...given);
    };
    try {
      const before = await countCards();
      expect((await store({ key })).status).toBe(500);
      expect(await countCards()).toBe(before + 1);
      expect((await store({ key })).replayed).toBe('true');
    } finally {
      verify = verifySimulatedCard;
    }
  });

  async function adminPair(): Promise<{ keyPairId: string }> {
    const { body } = await service.call('GET', '/api-key-pairs?limit=100', { token });
    const { items } = body as { items: { id: string; created_at: string }[] };
    return { keyPairId: items.at(-1)?.id ?? '' };
  }
});

describe('any sequence of requests', () => {
  /** What a body leads to at a service that has no answer for the key. */
  const bodies = {
    stored: [201, {}],
    storedOtherwise: [201, { expiration_date: '01/39' }],
    unknownBuyer: [404, { buyer_external_identifier: 'never' }],
    taken: [409, { external_identifier: 'always taken' }],
    malformed: [400, { number: '1' }],
  } as const;
  const sending = fc.record({
    key: fc.constantFrom('a', 'b', undefined),
    account: fc.constantFrom('default', 'marketplace'),
    body: fc.constantFrom(...(Object.keys(bodies) as (keyof typeof bodies)[])),
    security_code: fc.constantFrom('111', '222'),
    hours: fc.constantFrom(0, 0, 0, 13),
  });

  it('is answered as a simple model says', async () => {
    for (const account of ['default', 'marketplace'])
      await store({ account }, { external_identifier: 'always taken' });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(sending, { minLength: 4, maxLength: 10 }), async (sent) => {
        run += 1;
        const kept = new Map<string, { body: string; text: string; at: number }>();
        let clock = 0;
        for (const { key, account, body, security_code, hours } of sent) {
          clock += hours * 3_600_000;
          if (hours > 0) await age(hours * 3_600_000);
          const [status, more] = bodies[body];
          const given = key === undefined ? {} : { key: `${run} ${key}` };
          const answer = await store({ account, ...given }, { ...more, security_code });
          const slot = `${account} ${key ?? ''}`;
          const known = kept.get(slot);
          const isKnown = key !== undefined && known !== undefined && clock - known.at < day;
          if (status === 400) expect([answer.status, answer.replayed]).toEqual([400, null]);
          else if (!isKnown) {
            expect([answer.status, answer.replayed]).toEqual([status, key === undefined ? null : 'false']);
            kept.set(slot, { body, text: answer.text, at: clock });
          } else if (known.body === body)
            expect([answer.text, answer.replayed]).toEqual([known.text, 'true']);
          else expect([answer.status, answer.body]).toEqual([422, reused]);
        }
      }),
      { numRuns: runs(25) },
    );
  });
});
