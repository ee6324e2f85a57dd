// The worked example of docs/guides/providers.md, run as it is printed.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createAccount } from '../support/records.ts';
import { startTestService, testSecrets, type TestService } from '../support/service.ts';

const guide = join(import.meta.dirname, '../../docs/guides/providers.md');

/** The API that the example calls. */
const issuer = createServer((req, res) => {
  const answer = async () => {
    const body = (await json(req)) as { cards?: { number: string }[]; number?: string };
    if (req.url === '/verifications') return { approved: body.number === '4242424242424242' };
    if (body.cards?.some(({ number }) => number.endsWith('0500'))) return undefined;
    return body.cards?.map(({ number }) =>
      number.endsWith('0001')
        ? { error: { code: '14', text: 'No such card' } }
        : { cents: 1234, currency: 'EUR', validUntil: '2030-01-01T00:00:00.000Z' },
    );
  };
  void answer().then((found) => {
    res.writeHead(found ? 200 : 500, { 'Content-Type': 'application/json' }).end(JSON.stringify(found ?? {}));
  });
});

let folder: string;
let service: TestService;
let token: string;
beforeAll(async () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(await readFile(guide, 'utf8')) ?? [];
  folder = await mkdtemp(join(tmpdir(), 'providers-guide-'));
  const providers = join(folder, 'providers.mjs');
  await writeFile(providers, code);
  await new Promise<void>((done) => issuer.listen(0, '127.0.0.1', done));
  vi.stubEnv('ISSUER_URL', `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`);
  service = await startTestService({
    config: { environment: 'production', secrets: testSecrets(), providers },
  });
  await createAccount(service.service.database.db, { id: 'shop', display_name: 'Shop' });
  token = (await service.pair()).token('*.read', '*.write');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  issuer.close();
  await rm(folder, { recursive: true, force: true });
});

const balances = (...numbers: string[]) =>
  service.call('POST', '/gift-cards/balances', {
    token,
    body: { items: numbers.map((number) => ({ number, pin: '1111' })) },
  });

it('reads balances, and the failure of one card is its own', async () => {
  const { status, body } = await balances('6006491234560000', '6006491234560001');
  expect([status, body]).toMatchObject([
    200,
    {
      items: [
        { balance: 1234, currency: 'EUR', expiration_date: '2030-01-01T00:00:00.000Z' },
        {
          balance: null,
          balance_error_code: 'invalid_gift_card',
          balance_raw_error_code: '14',
          balance_raw_error_message: 'No such card',
        },
      ],
    },
  ]);
});

it('a failure of the issuer is 502', async () => {
  expect((await balances('6006491234560500')).status).toBe(502);
});

it.each([
  ['4242424242424242', 'succeeded'],
  ['5555555555554444', 'failed'],
])('verifies %s: %s', async (number, expected) => {
  const { body } = await service.call('POST', '/payment-methods', {
    token,
    body: { method: 'card', number, expiration_date: '12/39', security_code: '123' },
  });
  expect(body).toMatchObject({ status: expected });
});
