// Authentication and permission without a database: who is let in, what is remembered, and for how long.
import { createPublicKey, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Request, Response } from 'express';
import jwt from 'jsonwebtoken';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { createBearer } from '../../server/kit/access/bearer.ts';
import type { SigningPair } from '../../server/kit/access/bearer.ts';
import { permission } from '../../server/kit/access/permission.ts';
import { generateKeyPair, thumbprint, signToken, tokenDigest } from '../../server/kit/access/token.ts';
import { ApiError } from '../../server/kit/errors.ts';
import type { Caller } from '../../server/kit/http/known.ts';

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

/** What the look-ups of callers wait for whose token was not verified yet. */
let strangers: Promise<unknown> = Promise.resolve();
const ofStrangers = {};

/** A service with these key pairs. */
function serve(...pairs: SigningPair[]) {
  const stored = new Map(pairs.map((pair) => [thumbprint(createPublicKey(pair.public_key)), pair]));
  const start = Date.now();
  const lookups: string[] = [];
  const touches: [string, number][] = [];
  const bearer = createBearer({
    findSigningPair: async (db, kid) => {
      lookups.push(kid);
      if (db === ofStrangers) await strangers;
      return stored.get(kid);
    },
    recordKeyPairUse: (_db, id) => {
      touches.push([id, Date.now() - start]);
      return Promise.resolve();
    },
    log: { warn: () => undefined },
    now: () => new Date(),
    dbFor: () => ofStrangers as never,
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
      dbFor: () => ({}) as never,
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

  it('and its caller does not wait for the look-ups of strangers, even if they name its key', async () => {
    const service = serve(pairOf(0));
    await service.call(`Bearer ${token}`);
    service.at(2_001);
    let release = (): void => undefined;
    strangers = new Promise<void>((resolve) => (release = resolve));
    const stranger = reasonOf(service.call(`Bearer ${token.slice(0, -8)}AAAAAAAA`));
    expect((await service.call(`Bearer ${token}`)).keyPairId).toBe('pair-0');
    release();
    expect(await stranger).toContain('401');
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

describe('tokens that are refused', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'] }));
  afterEach(() => void vi.restoreAllMocks());

  const seconds = () => Math.floor(Date.now() / 1000);
  const withClaims = (claims: object) =>
    jwt.sign({ scopes, exp: seconds() + 600, ...claims }, keys[0].privateKey, {
      algorithm: 'ES512',
      keyid: thumbprint(keys[0].publicKey),
    });
  const withKeyId = (keyid: string) =>
    jwt.sign({ scopes, exp: seconds() + 600 }, 'secret', { algorithm: 'HS512', keyid });
  const withWrongSignature = () => token.slice(0, -8) + randomBytes(6).toString('base64url');
  const randomKeyId = () => randomBytes(32).toString('base64url');

  /** Calls with all of them at once. */
  async function flood(tokens: string[], service = serve(pairOf(0))) {
    const verify = vi.spyOn(jwt, 'verify');
    const answers: string[] = [];
    for (const one of tokens)
      void reasonOf(service.call(`Bearer ${one}`)).then((answer) => answers.push(answer));
    /** A signature is checked in each turn. */
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await setImmediate();
    };
    await turns(1);
    const atOnce = verify.mock.calls.length;
    await turns(tokens.length + 10);
    return { service, answers, atOnce, checks: verify.mock.calls.length };
  }
  const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

  it.each([1, 40])('%i with wrong signatures: each is checked in a turn, and held back', async (count) => {
    const { service, answers, atOnce, checks } = await flood(times(count, withWrongSignature));
    expect(atOnce).toBeLessThanOrEqual(2);
    expect(checks).toBe(count);
    await vi.advanceTimersByTimeAsync(250);
    expect(answers).toHaveLength(0);
    // Others do not wait, not even those with the same key.
    expect((await service.call(`Bearer ${token}`)).keyPairId).toBe('pair-0');
    await vi.advanceTimersByTimeAsync(750);
    expect(answers).toHaveLength(count);
    expect(new Set(answers)).toEqual(new Set(['401 invalid signature']));
  });

  it.each<[string, object, string]>([
    ['expired', { exp: seconds() - 60 }, 'jwt expired'],
    ['not yet valid', { nbf: seconds() + 90 }, 'jwt not active'],
    ['too long valid', { exp: seconds() + 90_000 }, 'the lifetime is longer than 24 hours'],
    ['without scopes', { scopes: undefined }, 'scopes are missing or malformed'],
  ])('300 that are %s: none is checked, and all but ten are held back', async (_name, claims, reason) => {
    const refused = withClaims(claims);
    const { answers, checks } = await flood(times(300, () => refused));
    expect(checks).toBe(0);
    await vi.advanceTimersByTimeAsync(250);
    expect(answers).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(750);
    expect(answers).toHaveLength(300);
    expect(new Set(answers)).toEqual(new Set([`401 ${reason}`]));
  });

  it('300 with unknown key IDs, another each time: all but ten are held back', async () => {
    const { answers, checks } = await flood(times(300, () => withKeyId(randomKeyId())));
    expect(checks).toBe(0);
    await vi.advanceTimersByTimeAsync(250);
    expect(answers).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(750);
    expect(answers).toHaveLength(300);
    expect(new Set(answers)).toEqual(new Set(['401 unknown kid']));
  });

  it('one that has expired is refused at once, also while others of its key pair are held back', async () => {
    const service = serve(pairOf(0), pairOf(1));
    await flood(times(5, withWrongSignature), service);
    const { answers } = await flood([withClaims({ exp: seconds() - 60 })], service);
    expect(answers).toEqual(['401 jwt expired']);
  });

  it('but one that is valid is checked once, however often it is sent at once', async () => {
    const { answers, checks } = await flood(times(40, () => token));
    expect(checks).toBe(1);
    expect(answers).toHaveLength(40);
    expect(new Set(answers)).toEqual(new Set(['let in']));
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
