// Authentication and permission without a database: who is let in, what is remembered, and for how long.
import { createPublicKey } from 'node:crypto';
import type { Request, Response } from 'express';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { ApiError } from '../../server/errors.ts';
import { permission } from '../../server/http/access.ts';
import { createBearer } from '../../server/http/bearer.ts';
import type { Caller } from '../../server/http/known.ts';
import type { SigningPair } from '../../server/resources/api-key-pairs/queries.ts';
import {
  generateKeyPair,
  thumbprint,
  signToken,
  tokenDigest,
} from '../../server/resources/api-key-pairs/token.ts';

const response = { locals: {} } as Response;
const keys = [generateKeyPair('ECDSA'), generateKeyPair('ECDSA')] as const;
const scopes = ['transactions.read'];

const pairOf = (index: 0 | 1, more: Partial<SigningPair> = {}): SigningPair => ({
  id: `pair-${index}`,
  algorithm: 'ECDSA',
  public_key: createPublicKey(keys[index].privateKey).export({ type: 'spki', format: 'pem' }) as string,
  active: true,
  permissions: ['*.read'],
  accounts: { only: ['default'] },
  ...more,
});

// Time passes by hand.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A service with these key pairs. */
function serve(...pairs: SigningPair[]) {
  const stored = new Map(pairs.map((pair) => [thumbprint(createPublicKey(pair.public_key)), pair]));
  const start = Date.now();
  const lookups: string[] = [];
  const touches: [string, number][] = [];
  const bearer = createBearer({
    findSigningPair: (_db, kid) => {
      lookups.push(kid);
      return Promise.resolve(stored.get(kid));
    },
    recordKeyPairUse: (_db, id) => {
      touches.push([id, Date.now() - start]);
      return Promise.resolve();
    },
    log: { warn: () => undefined },
    now: () => new Date(),
  });
  return {
    start,
    stored,
    lookups,
    touches,
    at: (milliseconds: number) => vi.advanceTimersByTime(start + milliseconds - Date.now()),
    call: async (authorization: string | undefined): Promise<Caller> => {
      const headers = authorization === undefined ? {} : { authorization };
      const { caller } = await bearer({} as never, { headers } as Request, response);
      return caller;
    },
  };
}

const reasonOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'let in',
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return `${error.status} ${error.facts.reason ?? ''}`;
    },
  );

const decode = (text: string) =>
  JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as { exp: number };

const token = signToken(keys[0].privateKey, scopes, 600);

describe('the bearer token', () => {
  it('of a known pair makes its caller', async () => {
    const service = serve(pairOf(0), pairOf(1));
    expect(await service.call(`Bearer ${token}`)).toEqual({
      keyPairId: 'pair-0',
      scopes,
      permissions: ['*.read'],
      accounts: { only: ['default'] },
      tokenDigest: tokenDigest(token),
    });
  });

  it.each(['bearer', 'BEARER'])('the scheme may be written %s', async (scheme) => {
    expect((await serve(pairOf(0)).call(`${scheme} ${token}`)).keyPairId).toBe('pair-0');
  });

  it.each([
    undefined,
    '',
    token,
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    `Bearer  ${token}`,
    ` Bearer ${token}`,
    `Bearer ${token} `,
    `Bearer ${token} x`,
    `Bearer${token}`,
    `x Bearer ${token}`,
  ])('no other header is one (%#)', async (header) => {
    expect(await reasonOf(serve(pairOf(0)).call(header))).toBe('401 no bearer token');
  });

  it('of an unknown pair, of an inactive one, or of another pair with its kid is refused', async () => {
    expect(await reasonOf(serve(pairOf(1)).call(`Bearer ${token}`))).toBe('401 unknown kid');
    const inactive = serve(pairOf(0, { active: false }));
    expect(await reasonOf(inactive.call(`Bearer ${token}`))).toMatch(/^401 the key pair \S+ is not active$/);
    const swapped = serve(pairOf(0));
    swapped.stored.set(thumbprint(keys[0].publicKey), pairOf(1));
    expect(await reasonOf(swapped.call(`Bearer ${token}`))).toBe('401 invalid signature');
  });

  it('a failure of the database is not the fault of the caller', async () => {
    const bearer = createBearer({
      findSigningPair: () => Promise.reject(new Error('the database is away')),
      recordKeyPairUse: () => Promise.resolve(),
      log: { warn: () => undefined },
      now: () => new Date(),
    });
    const req = { headers: { authorization: `Bearer ${token}` } } as Request;
    const failure = Promise.resolve(bearer({} as never, req, response)).catch((error: unknown) => error);
    expect(await failure).toEqual(new Error('the database is away'));
    expect(await failure).not.toBeInstanceOf(ApiError);
  });
});

describe('what is remembered', () => {
  it('a pair for two seconds: its deactivation is noticed then', async () => {
    const service = serve(pairOf(0));
    const [kid] = service.stored.keys();
    await service.call(`Bearer ${token}`);
    service.stored.set(kid ?? '', pairOf(0, { active: false }));
    service.at(1_999);
    await service.call(`Bearer ${token}`);
    expect(service.lookups).toEqual([kid]);
    service.at(2_000);
    expect(await reasonOf(service.call(`Bearer ${token}`))).toMatch(/^401 the key pair \S+ is not active$/);
    expect(service.lookups).toEqual([kid, kid]);
  });

  it('a pair that is not found is looked up again', async () => {
    const service = serve();
    await reasonOf(service.call(`Bearer ${token}`));
    service.stored.set(thumbprint(keys[0].publicKey), pairOf(0));
    expect((await service.call(`Bearer ${token}`)).keyPairId).toBe('pair-0');
  });

  it('a verified token until it expires, with the leeway of a minute', async () => {
    const service = serve(pairOf(0));
    const [kid] = service.stored.keys();
    const { exp } = decode(token);
    await service.call(`Bearer ${token}`);
    // The pair keeps its ID and has another key now: only a token that is remembered is let in.
    service.stored.set(kid ?? '', { ...pairOf(1), id: 'pair-0' });
    service.at((exp + 60) * 1000 - service.start - 1);
    expect((await service.call(`Bearer ${token}`)).scopes).toEqual(scopes);
    service.at((exp + 60) * 1000 - service.start);
    expect(await reasonOf(service.call(`Bearer ${token}`))).toMatch(/^401 (jwt expired|invalid signature)$/);
  });

  it('but it is for another pair', async () => {
    const service = serve(pairOf(0));
    const [kid] = service.stored.keys();
    await service.call(`Bearer ${token}`);
    service.stored.set(kid ?? '', pairOf(1));
    service.at(3_000);
    expect(await reasonOf(service.call(`Bearer ${token}`))).toBe('401 invalid signature');
  });

  it('that a pair was used, for a minute', async () => {
    const service = serve(pairOf(0), pairOf(1));
    for (const at of [0, 1, 59_999, 60_000, 119_999, 120_000]) {
      service.at(at);
      await service.call(`Bearer ${token}`);
    }
    await service.call(`Bearer ${signToken(keys[1].privateKey, scopes, 600)}`);
    expect(service.touches).toEqual([
      ['pair-0', 0],
      ['pair-0', 60_000],
      ['pair-0', 120_000],
      ['pair-1', 120_000],
    ]);
  });

  it('no longer when the clock is set back', async () => {
    const service = serve(pairOf(0), pairOf(1));
    const [kid, otherKid] = service.stored.keys();
    const others = signToken(keys[1].privateKey, scopes, 600);
    await service.call(`Bearer ${token}`);
    await service.call(`Bearer ${others}`);
    vi.setSystemTime(service.start - 50_000);
    service.stored.set(kid ?? '', pairOf(0, { active: false }));
    service.stored.set(otherKid ?? '', pairOf(1, { permissions: [] }));
    vi.advanceTimersByTime(2_000);
    expect(await reasonOf(service.call(`Bearer ${token}`))).toMatch(/^401 the key pair \S+ is not active$/);
    expect((await service.call(`Bearer ${others}`)).permissions).toEqual([]);
    vi.advanceTimersByTime(58_000);
    await service.call(`Bearer ${others}`);
    expect(service.touches).toEqual([
      ['pair-0', 0],
      ['pair-1', 0],
      ['pair-1', 10_000],
    ]);
  });

  it('a refused token does not count as a use', async () => {
    const service = serve(pairOf(0, { active: false }));
    await reasonOf(service.call(`Bearer ${token}`));
    expect(service.touches).toEqual([]);
  });
});

describe('permission', () => {
  const { checkGiftCardBalances: operation } = operations;
  const allowed = (scope: string, permissions: string[]) => {
    const caller = { scopes: [scope], permissions } as unknown as Caller;
    return reasonOf(Promise.resolve().then(() => permission({ caller, operation }, {} as Request, response)));
  };

  it('needs a scope of the token and a permission of the roles', async () => {
    expect(await allowed('gift-cards.read', ['gift-cards.read'])).toBe('let in');
    const needed = 'gift-cards.read or embed';
    expect(await allowed('gift-cards.read', ['gift-cards.write'])).toBe(
      `403 the roles of the key pair do not allow ${needed}`,
    );
    expect(await allowed('gift-cards.write', ['gift-cards.read'])).toBe(
      `403 the scopes of the token do not allow ${needed}`,
    );
    expect(await allowed('gift-cards.write', [])).toBe(
      `403 neither the scopes of the token nor the roles of the key pair allow ${needed}`,
    );
  });
});
