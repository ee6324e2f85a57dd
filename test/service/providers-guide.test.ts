// The worked example of docs/guides/providers.md, run as it is printed, and cards that are verified again after an outage.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { paymentsHere } from '../support/in-process.ts';
import { createAccount, writingAnything } from '../support/records.ts';
import { productionEnv, startTestService, testSecrets, type TestService } from '../support/service.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const guide = join(import.meta.dirname, '../../docs/guides/providers.md');

interface Asked {
  cards?: { number: string }[];
  number?: string;
  security_code?: string | null;
}

/** What the issuer was asked, and how it fails: undefined when it works. */
const asked: { headers: IncomingHttpHeaders; body: Asked }[] = [];
let outage: ((res: ServerResponse, body: Asked) => void) | undefined;

/** The API that the example calls. */
const issuer = createServer((req, res) => {
  void json(req).then((given) => {
    const body = given as Asked;
    asked.push({ headers: req.headers, body });
    if (outage) outage(res, body);
    else res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answerTo(body)));
  });
});
const answerTo = ({ cards, number }: Asked) =>
  cards?.map((card) =>
    card.number.endsWith('0001')
      ? { error: { code: '14', text: 'No such card' } }
      : { cents: 1234, currency: 'EUR', validUntil: '2030-01-01T00:00:00.000Z' },
  ) ?? { approved: number === '4242424242424242' };

let folder: string;
let providers: string;
let service: TestService;
let token: string;
beforeAll(async () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(await readFile(guide, 'utf8')) ?? [];
  folder = await mkdtemp(join(tmpdir(), 'providers-guide-'));
  providers = join(folder, 'providers.mjs');
  await writeFile(providers, code);
  const keys = join(folder, 'keys.json');
  await writeFile(keys, JSON.stringify({ shop: 'key of shop', other: 'key of other' }));
  await new Promise<void>((done) => issuer.listen(0, '127.0.0.1', done));
  vi.stubEnv('ISSUER_URL', `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`);
  vi.stubEnv('ISSUER_KEYS_FILE', keys);
  service = await startTestService({
    config: { environment: 'production', secrets: testSecrets(), providers },
  });
  for (const id of ['shop', 'other', 'new']) await createAccount(db(), { id, display_name: id });
  token = (await service.pair()).token('*.read', '*.write');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  issuer.closeAllConnections();
  issuer.close();
  await rm(folder, { recursive: true, force: true });
});

const db = () => service.service.database.db;
const rowOf = (id: string) =>
  db().selectFrom('payment_methods').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const post = (path: string, body: object, account: string) =>
  service.call('POST', path, { token, body, headers: { 'X-Service-Merchant-Account-ID': account } });
const balances = (numbers: string[], account = 'shop') =>
  post('/gift-cards/balances', { items: numbers.map((number) => ({ number, pin: '1111' })) }, account);
const store = async (number = '4242424242424242', account = 'shop') => {
  const card = { method: 'card', number, expiration_date: '12/39', security_code: '123' };
  const { body, headers } = await post('/payment-methods', card, account);
  return { ...(body as { id: string; status: string }), requestId: headers.get('x-request-id') };
};

describe('the example', () => {
  it('reads balances, and the failure of one card is its own', async () => {
    const { status, body, headers } = await balances(['6006491234560000', '6006491234560001']);
    expect([status, body]).toMatchObject([
      200,
      {
        items: [
          { balance: 1234, currency: 'EUR', expiration_date: '2030-01-01T00:00:00.000Z' },
          {
            balance: null,
            balance_error_code: 'invalid_gift_card',
            // Callers with a public token get no words of the issuer.
            balance_raw_error_code: null,
            balance_raw_error_message: null,
          },
        ],
      },
    ]);
    const sent = { authorization: 'Bearer key of shop', 'x-request-id': headers.get('x-request-id') };
    expect(asked.at(-1)?.headers).toMatchObject(sent);
  });

  it.each([
    ['4242424242424242', 'succeeded'],
    ['5555555555554444', 'failed'],
  ])(
    'verifies %s: %s, with the credentials of the account and the ID of the card',
    async (number, expected) => {
      const { id, status, requestId } = await store(number, 'other');
      expect(status).toBe(expected);
      expect(asked.at(-1)).toMatchObject({
        headers: {
          authorization: 'Bearer key of other',
          'x-request-id': requestId,
          'idempotency-key': id,
        },
        body: { number, security_code: '123' },
      });
    },
  );

  it('asks nobody for an account without credentials', async () => {
    const before = asked.length;
    const answers = await Promise.all([balances(['6006491234560000'], 'new'), store(undefined, 'new')]);
    expect(answers.map(({ status }) => status)).toEqual([502, 'processing']);
    expect(asked).toHaveLength(before);
  });

  it.each<[string, number, RegExp, NonNullable<typeof outage>]>([
    [
      'does not answer, or not to its end,',
      504,
      /^no answer within 5000 ms$/,
      (res, { cards }) => {
        if (!cards) res.writeHead(200).write('{"approved":');
        // The deadline must not depend on an object that nothing holds.
        for (const milliseconds of [100, 500, 1000]) setTimeout(collect, milliseconds);
      },
    ],
    [
      'answers with many megabytes',
      502,
      /^the issuer answered with more than 1 MB$/,
      (res) => {
        const more = () => {
          while (!res.destroyed && res.write(' '.repeat(65_536)));
        };
        res.on('drain', more);
        more();
      },
    ],
    ['answers 503', 502, /^the issuer answered 503$/, (res) => res.writeHead(503).end()],
    ['answers with HTML', 502, /is not valid JSON$/, (res) => res.end('<h1>Later</h1>')],
    [
      'is cut off',
      502,
      /^terminated: /,
      (res) => res.writeHead(200, { 'Content-Length': 99 }).write('{"approved": fal', () => res.destroy()),
    ],
    ['leaves out what it was asked for', 502, /^the issuer did not say/, (res) => res.end('{}')],
  ])(
    'of an issuer that %s returns %i, and leaves a card in processing',
    async (_name, expected, why, fail) => {
      const closed: Promise<unknown>[] = [];
      outage = (res, body) => {
        closed.push(once(res, 'close'));
        fail(res, body);
      };
      const [lookUp, card] = await Promise.all([balances(['6006491234560000']), store()]);
      outage = undefined;
      // The requests have ended, too.
      await Promise.all(closed);
      expect([lookUp.status, card.status]).toEqual([expected, 'processing']);
      expect((await rowOf(card.id)).verification_error).toMatch(why);
    },
  );
});

describe('payments payment-methods verify', () => {
  const verify = async (args: string[], env: object = { PROVIDERS: providers }) => {
    const { status, stdout, stderr } = await paymentsHere(['payment-methods', 'verify', ...args], {
      ...productionEnv(service.config),
      ...env,
    });
    const { items } = (stdout.startsWith('{') ? JSON.parse(stdout) : {}) as { items?: unknown[] };
    return { status, stdout, stderr, items };
  };
  const storeInOutage = async (number?: string, account?: string) => {
    outage = (res) => res.writeHead(503).end();
    const { id, status } = await store(number, account);
    outage = undefined;
    expect(status).toBe('processing');
    return id;
  };
  const entriesAbout = async (id: string) => {
    const rows = await db().selectFrom('audit_entries').select('command').execute();
    return rows.map(({ command }) => command).filter((command) => command.includes(id));
  };

  it('a card is valid as long as the database says, whatever the clock of this machine', async () => {
    const id = await storeInOutage();
    const thisMonth = sql<string>`to_char(now() at time zone 'UTC', 'MM/YY')`;
    await writingAnything(db())
      .updateTable('payment_methods')
      .set({ expiration_date: thisMonth })
      .where('id', '=', id)
      .execute();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
    const { status, items } = await verify([id, '--json']).finally(() => vi.useRealTimers());
    expect([status, items]).toEqual([0, [{ id, status: 'succeeded', error: null }]]);
  });

  it('--processing asks again about all of them, without the security code and with the same ID', async () => {
    await db().deleteFrom('payment_methods').execute();
    const good = await storeInOutage();
    const bad = await storeInOutage('5555555555554444', 'other');
    const { id: untouched } = await store('5555555555554444');
    asked.length = 0;
    const { status, items, stderr } = await verify(['--processing', '--json']);
    expect([status, stderr]).toEqual([0, '']);
    expect(items).toHaveLength(2);
    expect(items).toEqual(
      expect.arrayContaining([
        { id: good, status: 'succeeded', error: null },
        { id: bad, status: 'failed', error: null },
      ]),
    );
    expect(asked).toHaveLength(2);
    expect(asked.find(({ headers }) => headers['idempotency-key'] === bad)).toMatchObject({
      headers: { authorization: 'Bearer key of other' },
      body: { number: '5555555555554444', security_code: null },
    });
    expect([(await rowOf(good)).status, (await rowOf(bad)).number_sealed]).toEqual(['succeeded', null]);
    expect(await entriesAbout(good)).toEqual([`payment-methods verify --processing --json # ${good}`]);
    expect(await entriesAbout(untouched)).toEqual([]);
    expect((await verify(['--processing'])).stdout).toBe('There is no card in processing.\n');
  });

  it('a provider that fails leaves the card as it is, and the exit code is 1', async () => {
    const id = await storeInOutage();
    const before = await rowOf(id);
    outage = (res) => res.writeHead(503).end();
    const { status, items, stderr } = await verify([id, '--json']);
    outage = undefined;
    expect([status, items]).toEqual([1, [{ id, status: 'processing', error: 'the issuer answered 503' }]]);
    expect(stderr).toBe('Not verified, and left as they are: 1 of 1 card.\n');
    expect(await rowOf(id)).toEqual(before);
    expect(await entriesAbout(id)).toEqual([]);
  });

  it('IDs: only cards in processing are asked about; others, and unknown ones, are named', async () => {
    const [one, two] = [await storeInOutage(), await storeInOutage()];
    const { id: done } = await store();
    const unknown = randomUUID();
    asked.length = 0;
    const { status, items, stderr } = await verify([one, done, unknown, two, '--json']);
    expect([status, stderr]).toEqual([1, 'Not verified, and left as they are: 2 of 4 cards.\n']);
    expect(items).toEqual([
      { id: one, status: 'succeeded', error: null },
      { id: done, status: 'succeeded', error: 'It is succeeded, not processing.' },
      { id: unknown, status: null, error: 'There is no such payment method.' },
      { id: two, status: 'succeeded', error: null },
    ]);
    expect(asked).toHaveLength(2);
    expect(await entriesAbout(two)).toHaveLength(1);
  });

  it('--processing goes on after a card that cannot be opened', async () => {
    await db().deleteFrom('payment_methods').execute();
    const [damaged, good] = [await storeInOutage(), await storeInOutage()];
    await writingAnything(db())
      .updateTable('payment_methods')
      .set({ number_sealed: 'damaged' })
      .where('id', '=', damaged)
      .execute();
    const { status, items } = await verify(['--processing', '--json']);
    expect(status).toBe(1);
    expect(items).toEqual(
      expect.arrayContaining([
        { id: damaged, status: null, error: expect.any(String) as string },
        { id: good, status: 'succeeded', error: null },
      ]),
    );
  });

  it('tells the verifier that it is asked again', async () => {
    const id = await storeInOutage();
    const told = join(folder, 'told.mjs');
    await writeFile(
      told,
      `export const verifyCard = async (card, signal, context) => {
        const { merchantAccountId, paymentMethodId, isRepeated } = context;
        throw new Error([merchantAccountId, paymentMethodId === '${id}', isRepeated, card.security_code].join(' '));
      };`,
    );
    const { items } = await verify([id, '--json'], { PROVIDERS: told });
    expect(items).toMatchObject([{ error: 'shop true true ' }]);
  });

  it('without a verifier nothing succeeds by itself', async () => {
    const id = await storeInOutage();
    const { status, stderr } = await verify(['--processing'], {});
    expect([status, stderr]).toEqual([1, 'There is no card verifier: set PROVIDERS, as for the service.\n']);
    expect((await rowOf(id)).status).toBe('processing');
  });
});
