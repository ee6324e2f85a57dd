// Tokens that the client signs: both algorithms with the real service, and renewal with a fake clock.
import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPaymentsClient, createTokenSource, signToken, unwrap } from '../../../client/server.ts';
import { thumbprint } from '../../../server/kit/access/token.ts';
import { rsaKey } from '../../support/keys.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const start = Date.now();
let clock = start;
const now = () => new Date(clock);
const pass = (seconds: number) => (clock += seconds * 1000);
beforeEach(() => {
  clock = start;
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ now });
});
afterAll(() => service[Symbol.asyncDispose]());

const pemOf = (key: { export: (options: { type: 'pkcs8'; format: 'pem' }) => string | Buffer }) =>
  key.export({ type: 'pkcs8', format: 'pem' }) as string;

interface Token {
  header: { alg: string; kid?: string };
  payload: { scopes: string[]; iat: number; exp: number; jti: string };
}
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const decode = (token: string) => jwt.decode(token, { complete: true }) as unknown as Token;

describe('a client with a key pair', () => {
  it.each([
    ['ES512', {}],
    ['RS512', { key: rsaKey }],
  ])('signs as %s', async (alg, wanted) => {
    const { key } = await service.pair(wanted);
    const authorizations: (string | null)[] = [];
    const client = createPaymentsClient({
      baseUrl: service.url,
      keyPair: { privateKey: pemOf(key), now },
      fetch: (request) => {
        authorizations.push(request.headers.get('Authorization'));
        return fetch(request);
      },
    });
    expect(unwrap(await client.GET('/transactions')).items.length).toBeGreaterThan(0);
    const { header, payload } = decode(authorizations[0]?.slice('Bearer '.length) ?? '');
    expect(header).toEqual({ alg, typ: 'JWT', kid: thumbprint(key) });
    expect(payload).toEqual({
      scopes: ['*.read', '*.write'],
      iat: Math.floor(start / 1000),
      exp: Math.floor(start / 1000) + 900,
      jti: expect.stringMatching(uuidPattern) as string,
    });
  });

  it('signs once for calls that come together, and again before the token ends', async () => {
    const seen = new Set<string | null>();
    const client = createPaymentsClient({
      baseUrl: service.url,
      keyPair: { privateKey: pemOf(service.key), now },
      fetch: (request) => {
        seen.add(request.headers.get('Authorization'));
        return fetch(request);
      },
    });
    const call = async () => (await client.GET('/card-scheme-definitions')).response.status;
    expect(new Set(await Promise.all(Array.from({ length: 20 }, call)))).toEqual(new Set([200]));
    expect(seen.size).toBe(1);
    // Over six hours, in steps of ten minutes, the service (with the same clock) never sees an expired token.
    for (let step = 1; step <= 36; step += 1) {
      pass(600);
      expect(await call()).toBe(200);
    }
    expect(seen.size).toBeGreaterThan(17);
  });

  it('signs another one when the service refuses it, once for calls that come together', async () => {
    const together = 20;
    const seen: { token: string | null; status: number }[] = [];
    let refused = 0;
    let allRefused: () => void = () => undefined;
    const refusing = new Promise<void>((resolve) => (allRefused = resolve));
    const client = createPaymentsClient({
      baseUrl: service.url,
      // A clock that is five minutes slow renews five minutes too late.
      keyPair: { privateKey: pemOf(service.key), now: () => new Date(clock - 300_000) },
      fetch: async (request) => {
        const response = await fetch(request);
        seen.push({ token: request.headers.get('Authorization'), status: response.status });
        // Nobody hears of a refusal before each of the calls has been refused, however slow the machine is.
        if (response.status === 401) {
          refused += 1;
          if (refused === together) allRefused();
          await refusing;
        }
        return response;
      },
    });
    const call = async () => (await client.GET('/card-scheme-definitions')).response.status;
    expect(await call()).toBe(200);
    pass(700);
    expect(new Set(await Promise.all(Array.from({ length: together }, call)))).toEqual(new Set([200]));
    expect(seen.filter(({ status }) => status === 401)).toHaveLength(together);
    expect(new Set(seen.map(({ token }) => token)).size).toBe(2);
  });

  it('asks only for the scopes that it is given', async () => {
    const keyPair = { privateKey: pemOf(service.key), scopes: ['transactions.read'], now } as const;
    const client = createPaymentsClient({ baseUrl: service.url, keyPair });
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect((await client.GET('/api-key-pairs')).response.status).toBe(403);
  });

  it('takes a token all the same', async () => {
    const client = createPaymentsClient({ baseUrl: service.url, token: service.token('*.read') });
    expect((await client.GET('/transactions')).response.status).toBe(200);
  });
});

describe('a token source', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  const source = (lifetimeSeconds?: number) =>
    createTokenSource({ privateKey: pemOf(privateKey), lifetimeSeconds, now });

  it.each([
    [900, 839, 840],
    [undefined, 839, 840],
    [86_400, 86_339, 86_340],
    [20, 14, 15],
    [1, 0, 1],
  ])('keeps a token of %s s for %i s, and renews it at %i s', async (lifetime, kept, renewed) => {
    const token = source(lifetime);
    clock = Math.floor(start / 1000) * 1000;
    const first = await token();
    pass(lifetime === 1 ? 0 : kept);
    if (lifetime !== 1) expect(await token()).toBe(first);
    pass(renewed - kept);
    const second = await token();
    expect(second).not.toBe(first);
    expect(decode(second).payload.iat).toBe(Math.floor(clock / 1000));
  });

  it('renews when the clock was set back, for its token would be one from the future', async () => {
    const token = source();
    const first = await token();
    pass(-3600);
    expect(decode(await token()).payload.iat).toBeLessThan(decode(first).payload.iat);
  });
});

it.each(['importKey', 'sign'] as const)('a signature that failed (%s) is made again', async (step) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  const token = createTokenSource({ privateKey: pemOf(privateKey), now });
  const failing = vi.spyOn(crypto.subtle, step).mockRejectedValueOnce(new Error('no entropy'));
  await expect(token()).rejects.toThrow('no entropy');
  expect(decode(await token()).header.kid).toBe(thumbprint(privateKey));
  failing.mockRestore();
});

describe('a key', () => {
  it('RSA of 1024 bits is refused', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    await expect(signToken({ privateKey: pemOf(privateKey) })).rejects.toThrow(/nor RSA of 2048 bits/);
  });

  it.each([
    ['ECDSA on another curve', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
    ['Ed25519', generateKeyPairSync('ed25519').privateKey],
  ])('%s is refused when the client is made', (_, key) => {
    const options = { baseUrl: service.url, keyPair: { privateKey: pemOf(key) } };
    expect(() => createPaymentsClient(options)).toThrow(/neither ECDSA on P-521 nor RSA/);
  });

  it('may be encrypted, or in the form that OpenSSL writes', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
    const secret = { cipher: 'aes-256-cbc', passphrase: 'open sesame' };
    const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', ...secret });
    const sec1 = privateKey.export({ type: 'sec1', format: 'pem' });
    const tokens = await Promise.all([
      signToken({ privateKey: encrypted, passphrase: 'open sesame' }),
      signToken({ privateKey: sec1 }),
      signToken({ privateKey: Buffer.from(pemOf(privateKey)) }),
      // As an environment variable has it.
      signToken({ privateKey: pemOf(privateKey).replaceAll('\n', '\\n') }),
      signToken({ privateKey: rsaKey.export({ type: 'pkcs1', format: 'pem' }) }),
    ]);
    const [ecThumbprint, rsaThumbprint] = [thumbprint(privateKey), thumbprint(rsaKey)];
    expect(tokens.map((token) => decode(token).header.kid)).toEqual([
      ...[ecThumbprint, ecThumbprint, ecThumbprint, ecThumbprint],
      rsaThumbprint,
    ]);
    for (const passphrase of ['wrong', undefined])
      await expect(signToken({ privateKey: encrypted, passphrase })).rejects.toThrow(
        '`privateKey` cannot be read. Is it a private key, whole, with its passphrase?',
      );
    for (const other of [privateKey, privateKey.export({ format: 'jwk' })])
      await expect(signToken({ privateKey: other as never })).rejects.toThrow(
        /must be the text of a PEM file/,
      );
    await expect(signToken({ privateKey: 'no PEM' })).rejects.toThrow(/must be the text of a PEM file/);
  });

  it.each([0, -1, 1.5, Number.NaN, 86_401])('a lifetime of %s s is refused', async (lifetimeSeconds) => {
    await expect(signToken({ privateKey: pemOf(service.key), lifetimeSeconds })).rejects.toThrow(RangeError);
  });
});

describe('signToken', () => {
  it('makes a token of its own each time, such as one for a checkout page', async () => {
    const keyPair = {
      privateKey: pemOf(service.key),
      scopes: ['embed'],
      lifetimeSeconds: 3600,
      now,
    } as const;
    const client = createPaymentsClient({ baseUrl: service.url, token: await signToken(keyPair) });
    const body = { items: [{ number: '9999000050001234', pin: '1234' }] };
    expect(unwrap(await client.POST('/gift-cards/balances', { body })).items[0]?.balance).toBe(5000);
  });
  it('takes the ID of the caller', async () => {
    const { payload } = decode(await signToken({ privateKey: pemOf(service.key), jti: 'checkout 7' }));
    expect(payload.jti).toBe('checkout 7');
  });
});
