// What the parity suite cannot test: invalid HTTP, invalid tokens, and headers of the mock's answers.
import { sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thumbprint } from '../../../server/kit/access/token.ts';
import { sendBytes } from '../../support/call.ts';
import type { TestService } from '../../support/service.ts';
import { startBoth, type TestMock } from './support.ts';

let mock: TestMock;
let service: TestService;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ mock, service, stop } = await startBoth());
});
afterAll(() => stop());

describe('the mock answers invalid HTTP as the service does', () => {
  it('bytes that are not HTTP', async () => {
    const answers = await Promise.all(
      [mock.url, service.url].map((url) => sendBytes(url, 'GET / unicorn\r\n\r\n')),
    );
    const [mocked, real] = answers.map((text) => text.replace(/X-Request-ID: .*/, ''));
    expect(mocked).toContain('"code":"bad_request"');
    expect(mocked).toBe(real);
  });
});

describe('tokens', () => {
  it('that may only read see no secrets of subscriptions, as at the service', async () => {
    const path = '/webhook-subscriptions';
    const body = { url: 'https://shop.example/hooks' };
    await service.call('POST', path, { token: service.token('*.write'), body });
    for (const scopes of [['*.read'], ['*.read', '*.write']])
      for (const { call } of [mock, service]) {
        const { body: page } = await call('GET', path, { token: service.token(...scopes) });
        const [first] = (page as { items: { secret: string | null }[] }).items;
        expect(first?.secret ?? null).toEqual(
          scopes.length === 1 ? null : (expect.stringMatching(/^whsec_/) as string),
        );
      }
  });

  it.each(['anything', 'a.b.c', 'eyJhbGciOiJub25lIn0.bm8ganNvbg.', '🦄'])(
    'any opaque text passes: %s',
    async (text) => {
      const { status } = await mock.call('GET', '/transactions', { token: encodeURIComponent(text) });
      expect(status).toBe(200);
    },
  );
});

describe('a JWT is judged as at the service, but for its signature', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const day = 86_400;
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const kid = () => thumbprint(service.key);

  it.each<[name: string, claims: () => object, header: object, expected: number]>([
    ['valid', () => ({}), {}, 200],
    // Clocks may differ by a minute.
    ['that expired within the last minute', () => ({ iat: now() - 600, exp: now() - 30 }), {}, 200],
    ['that expired before', () => ({ iat: now() - 600, exp: now() - 120 }), {}, 401],
    ['without exp', () => ({ exp: undefined }), {}, 401],
    ['of 24 hours', () => ({ exp: now() + day, iat: now() }), {}, 200],
    ['of 25 hours', () => ({ exp: now() + day + 3_600 }), {}, 401],
    ['of 25 hours without iat', () => ({ exp: now() + day + 3_600, iat: undefined }), {}, 401],
    ['with an nbf in the future', () => ({ nbf: now() + 300 }), {}, 401],
    ['with an iat in the future', () => ({ iat: now() + 300 }), {}, 401],
    ['without scopes', () => ({ scopes: undefined }), {}, 401],
    ['with a malformed scope', () => ({ scopes: ['transactions.everything'] }), {}, 401],
    ['whose scopes are text', () => ({ scopes: 'transactions.read' }), {}, 401],
    ['with too few scopes', () => ({ scopes: ['gift-cards.read'] }), {}, 403],
    ['without kid', () => ({}), { kid: undefined }, 401],
    ['of another type', () => ({}), { typ: 'dpop+jwt' }, 401],
    ['of alg none', () => ({}), { alg: 'none' }, 401],
    ['of another algorithm', () => ({}), { alg: 'ES256' }, 401],
    ['with critical extensions', () => ({}), { crit: ['exp'] }, 401],
  ])('one %s', async (_name, more, header, expected) => {
    const claims = { scopes: ['*.read'], iat: now(), exp: now() + 600, ...more() };
    const text = `${part({ alg: 'ES512', typ: 'JWT', kid: kid(), ...header })}.${part(claims)}`;
    const signed = sign('sha512', Buffer.from(text), { key: service.key, dsaEncoding: 'ieee-p1363' });
    const token = `${text}.${signed.toString('base64url')}`;
    for (const { call } of [mock, service])
      expect((await call('GET', '/transactions', { token })).status).toBe(expected);
    expect((await mock.call('GET', '/transactions', { token: `${text}.c2ln` })).status).toBe(expected);
  });

  it('and the log says why', async () => {
    mock.lines.length = 0;
    const token = `${part({ alg: 'ES512', typ: 'JWT', kid: kid() })}.${part({ scopes: ['*.read'] })}.c2ln`;
    await mock.call('GET', '/transactions', { token });
    await expect.poll(() => mock.lines.join()).toContain('the token is a JWT, and refused: no exp');
  });
});
