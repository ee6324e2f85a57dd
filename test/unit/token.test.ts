// Tokens without a service: exactly which ones are refused, and for which reason. test/service/tokens.test.ts shows that every
// refusal gets the same answer.
import { createHash, generateKeyPairSync, sign as signBytes, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidToken, readKeyId } from '../../server/kit/access/claims.ts';
import {
  generateKeyPair,
  thumbprint,
  signToken,
  tokenDigest,
  verifyToken,
} from '../../server/kit/access/token.ts';
import { runs } from '../support/random.ts';

const { privateKey, publicKey } = generateKeyPair('ECDSA');
const pair = { publicKey, algorithm: 'ECDSA' as const };
const kid = thumbprint(publicKey);
const now = new Date('2026-11-15T10:30:00.999Z');
const seconds = Math.floor(now.getTime() / 1000);
const day = 86_400;
const scopes = ['transactions.read'];

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs any header and payload with ES512. */
function forge(header: unknown, payload: unknown, key: KeyObject = privateKey): string {
  const input = `${encode(header)}.${encode(payload)}`;
  const signature = signBytes('sha512', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

const head = { alg: 'ES512', typ: 'JWT', kid };
const claims = (more: object = {}) => ({ scopes, exp: seconds + 600, iat: seconds, ...more });

const reasonOf = (attempt: () => unknown): unknown => {
  try {
    attempt();
    return 'accepted';
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error;
    return error.message;
  }
};

describe('the key ID of a token', () => {
  const read = (header: unknown) => reasonOf(() => readKeyId(forge(header, claims())));

  it('is read from the header', () => {
    expect(readKeyId(forge(head, claims()))).toBe(kid);
    expect(readKeyId(forge({ ...head, typ: 'jwt' }, claims()))).toBe(kid);
  });

  // With names, because the kid is another one in every run.
  it.each<[string, unknown, string]>([
    ['no typ', { ...head, typ: undefined }, 'typ is not JWT'],
    ['another typ', { ...head, typ: 'dpop+jwt' }, 'typ is not JWT'],
    ['a longer typ', { ...head, typ: 'JWTS' }, 'typ is not JWT'],
    ['typ in a list', { ...head, typ: ['JWT'] }, 'typ is not JWT'],
    ['typ null', { ...head, typ: null }, 'typ is not JWT'],
    ['critical extensions', { ...head, crit: ['exp'] }, 'critical extensions'],
    ['an empty list of them', { ...head, crit: [] }, 'critical extensions'],
    ['no kid', { ...head, kid: undefined }, 'kid is not a thumbprint'],
    ['kid in a list', { ...head, kid: [kid] }, 'kid is not a thumbprint'],
    ['a shorter kid', { ...head, kid: kid.slice(1) }, 'kid is not a thumbprint'],
    ['a longer kid', { ...head, kid: `${kid}A` }, 'kid is not a thumbprint'],
    ['a longer kid, at its start', { ...head, kid: `.${kid}` }, 'kid is not a thumbprint'],
    ['another character in kid', { ...head, kid: `${kid.slice(1)}.` }, 'kid is not a thumbprint'],
    ['a line break after kid', { ...head, kid: `${kid}\n` }, 'kid is not a thumbprint'],
    ['a header that is no JSON', '{', 'a part is not a JSON object'],
    [
      'a header with two kids',
      `{"alg":"ES512","typ":"JWT","kid":"${kid}","kid":"${kid}"}`,
      'a part is not a JSON object',
    ],
    ['a header that is null', 'null', 'a part is not a JSON object'],
    ['a header that is a number', '7', 'a part is not a JSON object'],
    ['a header that is text', '"JWT"', 'a part is not a JSON object'],
    ['a header that is a list', '[]', 'a part is not a JSON object'],
  ])('is not read from a token with %s', (_name, header, reason) => {
    expect(read(header)).toBe(reason);
  });

  it('is not read from a token over 8192 characters', () => {
    const start = `${encode({ ...head })}.`;
    const padded = (length: number) => `${start}${'A'.repeat(length - start.length - 5)}.AAAA`;
    const fits = [8188, 8189, 8190, 8191, 8192].filter((length) => readable(padded(length)));
    expect(fits).toContain(8192);
    expect(reasonOf(() => readKeyId(padded(8193)))).toBe('too long');
  });

  const readable = (token: string) => reasonOf(() => readKeyId(token)) === 'accepted';

  it('is not read from anything but three parts in their only encoding', () => {
    const token = forge(head, claims());
    const [first = '', second = '', third = ''] = token.split('.');
    const reason = 'the token is not a JWT: not three canonical base64url parts';
    for (const text of [
      '',
      '..',
      `${first}.${second}`,
      `${token}.`,
      `${token}.${third}`,
      `.${second}.${third}`,
      `${first}..${third}`,
      `${first}.${second}.`,
      `${token}=`,
      `${first}=.${second}.${third}`,
      `${token} `,
      `${first}.${second}+.${third}`,
    ])
      expect(
        reasonOf(() => readKeyId(text)),
        JSON.stringify(text),
      ).toBe(reason);
  });

  it('of a token with any other last character is refused, because the bytes would be the same', () => {
    // Two bytes need three characters, of which the last has two unused bits.
    const token = `${encode(head)}.${encode(claims())}.AAA`;
    expect(readable(token)).toBe(true);
    for (const last of 'BCD') expect(readable(token.slice(0, -1) + last)).toBe(false);
  });
});

describe('a token is verified', () => {
  const verify = (token: string) => verifyToken(token, pair, now);

  it.each<[string, object]>([
    ['with iat', {}],
    ['without iat', { iat: undefined }],
    ['of exactly a day', { exp: seconds + day }],
    ['of exactly a day, without iat', { exp: seconds + day, iat: undefined }],
    ['of a day by a clock that is a minute ahead', { iat: seconds + 60, exp: seconds + 60 + day }],
    ['that expired within the last minute', { iat: seconds - 600, exp: seconds - 59 }],
    ['that begins within a minute', { nbf: seconds + 60 }],
    ['without any scope', { scopes: [] }],
    ['with several scopes', { scopes: ['*.read', 'embed', 'gift-cards.write'] }],
  ])('%s', (_name, more) => {
    const given = claims(more);
    expect(verify(forge(head, given))).toEqual({ scopes: given.scopes, exp: given.exp });
  });

  const lifetime = 'the lifetime is longer than 24 hours';
  const malformed = 'scopes are missing or malformed';
  it.each<[string, object, string]>([
    ['expired', { iat: seconds - 600, exp: seconds - 60 }, 'jwt expired'],
    ['not yet valid', { nbf: seconds + 61 }, 'jwt not active'],
    ['nbf as text', { nbf: String(seconds) }, 'invalid nbf value'],
    ['without expiry', { exp: undefined }, 'no exp'],
    ['expiry as text', { exp: String(seconds) }, 'invalid exp value'],
    ['made in the future', { iat: seconds + 61 }, 'iat is in the future'],
    ['iat as text', { iat: String(seconds) }, 'iat is in the future'],
    ['iat null', { iat: null }, 'iat is in the future'],
    ['a day and a second', { exp: seconds + day + 1 }, lifetime],
    ['a day and a second without iat', { iat: undefined, exp: seconds + day + 1 }, lifetime],
    ['a day and a second, made before', { iat: seconds - 10, exp: seconds + day - 9 }, lifetime],
    ['scopes missing', { scopes: undefined }, malformed],
    ['scopes as text', { scopes: 'transactions.read' }, malformed],
    ['scopes as an object', { scopes: { 0: 'transactions.read', length: 1 } }, malformed],
    ['a malformed scope among others', { scopes: ['transactions.read', 'everything'] }, malformed],
    ['a scope that is not text', { scopes: ['transactions.read', 7] }, malformed],
    ['a scope in a list', { scopes: [['transactions.read']] }, malformed],
  ])('but not %s', (_name, more, reason) => {
    expect(reasonOf(() => verify(forge(head, claims(more))))).toBe(reason);
  });

  it('but not one whose payload is no JSON, and the reason quotes nothing of it', () => {
    expect(reasonOf(() => verify(forge(head, 'xylophone-xylophone')))).toBe('the payload is not JSON');
  });

  it('but not one whose payload is no object', () => {
    expect(reasonOf(() => verify(forge(head, '"hello"')))).toBe('a part is not a JSON object');
    for (const payload of ['hello', '"hello"', '7', 'null', '[]'])
      expect(
        reasonOf(() => verify(forge(head, payload))),
        payload,
      ).not.toBe('accepted');
  });

  it('but not one that is signed by another key, or with another algorithm than that of the pair', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-521' });
    expect(reasonOf(() => verify(forge(head, claims(), other.privateKey)))).toBe('invalid signature');
    for (const alg of ['ES256', 'RS512', 'HS512', 'none'])
      expect(
        reasonOf(() => verify(forge({ ...head, alg }, claims()))),
        alg,
      ).toBe('invalid algorithm');
    const asRsa = { publicKey, algorithm: 'RSA' as const };
    expect(reasonOf(() => verifyToken(forge(head, claims()), asRsa, now))).toBe('invalid algorithm');
  });

  it('exactly while it is valid, by these rules in other words', () => {
    const around = (centre: number) => fc.integer({ min: centre - 70, max: centre + 70 });
    const moment = fc.oneof(
      around(0),
      around(day),
      around(-day),
      fc.integer({ min: -day * 2, max: day * 2 }),
    );
    fc.assert(
      fc.property(moment, fc.option(moment), (exp, iat) => {
        const given = { scopes, exp: seconds + exp, ...(iat === null ? {} : { iat: seconds + iat }) };
        const isValid =
          exp > -60 && (iat === null ? exp <= day : iat <= 60 && exp - iat <= day && exp <= day + 60);
        expect(reasonOf(() => verify(forge(head, given))) === 'accepted').toBe(isValid);
      }),
      { numRuns: runs(40) },
    );
  });
});

describe('a token that we sign', () => {
  const payloadOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

  it('is verified by the public key that its header names', () => {
    const token = signToken(privateKey, ['*.read', 'embed'], 300);
    expect(readKeyId(token)).toBe(kid);
    const { scopes: given, exp } = verifyToken(token, pair, new Date());
    expect(given).toEqual(['*.read', 'embed']);
    expect(exp).toBe(Number(payloadOf(token).iat) + 300);
  });

  it('differs from others of the same second', () => {
    const ids = [1, 2, 3].map(() => payloadOf(signToken(privateKey, scopes, 300)).jti);
    expect(new Set(ids).size).toBe(3);
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-f-]{36}$/) as string));
  });

  it('needs a key that the service accepts', () => {
    const { privateKey: weak } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(() => signToken(weak, scopes, 300)).toThrow(
      new Error('The key is neither ECDSA on P-521 nor RSA of 2048 bits or more.'),
    );
  });
});

it('the digest of a token does not depend on its signature, and on everything else', () => {
  const [first, second] = [forge(head, claims()), forge(head, claims())];
  // ECDSA signatures are random.
  expect(first).not.toBe(second);
  expect(tokenDigest(first)).toBe(tokenDigest(second));
  expect(tokenDigest(forge(head, claims({ jti: 'x' })))).not.toBe(tokenDigest(first));
  expect(tokenDigest(first)).toBe(
    createHash('sha256')
      .update(first.replace(/\.[^.]*$/, ''))
      .digest('base64url'),
  );
});
