import {
  createHash,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signingAlgorithm } from '../../server/kit/access/claims.ts';
import { algorithmOf, generateKeyPair, thumbprint } from '../../server/kit/access/token.ts';

const ec = generateKeyPair('ECDSA');

/** Nobody knows the factors of such a number; it is made faster than a real key. */
function rsaKey(bits: number): KeyObject {
  const modulus = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  modulus[0] = 0xff >> (modulus.length * 8 - bits);
  const key = { kty: 'RSA', e: 'AQAB', n: modulus.toString('base64url') };
  return createPublicKey({ key, format: 'jwk' });
}

/** The same key with the algorithm RSASSA-PSS, which has no parameters, instead of rsaEncryption. */
function pssKey(): KeyObject {
  const plain = rsaKey(2048).export({ type: 'spki', format: 'der' }).toString('hex');
  const key = plain.replace('300d06092a864886f70d0101010500', '300b06092a864886f70d01010a');
  return createPublicKey({
    key: Buffer.from(key.replace('30820122', '30820120'), 'hex'),
    type: 'spki',
    format: 'der',
  });
}

describe('the thumbprint', () => {
  it('is that of the example in RFC 7638', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3ok' +
      'njhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6' +
      'qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awa' +
      'pJzKnqDKgw';
    const key = createPublicKey({ key: { kty: 'RSA', e: 'AQAB', n }, format: 'jwk' });
    expect(thumbprint(key)).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
  });

  it('has the members of an elliptic curve key in alphabetical order, for both halves of the pair', () => {
    const { x = '', y = '' } = ec.publicKey.export({ format: 'jwk' });
    const members = `{"crv":"P-521","kty":"EC","x":"${x}","y":"${y}"}`;
    const expected = createHash('sha256').update(members).digest('base64url');
    expect(thumbprint(ec.publicKey)).toBe(expected);
    expect(thumbprint(ec.privateKey)).toBe(expected);
  });
});

describe('the algorithm', () => {
  it('has a name and a signature of 512 bits', () => {
    expect(signingAlgorithm).toEqual({ ECDSA: 'ES512', RSA: 'RS512' });
  });

  it('of both halves of a generated pair is the one that was asked for', () => {
    expect(algorithmOf(ec.privateKey)).toBe('ECDSA');
    expect(algorithmOf(ec.publicKey)).toBe('ECDSA');
  });

  it('is RSA from 2048 bits on', () => {
    expect(algorithmOf(rsaKey(2048))).toBe('RSA');
    expect(algorithmOf(rsaKey(2047))).toBeUndefined();
    expect(pssKey().asymmetricKeyType).toBe('rsa-pss');
  });

  it.each([
    ['RSA for PSS only', pssKey],
    ['another curve', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey],
    ['Ed25519', () => generateKeyPairSync('ed25519').publicKey],
    ['a secret key', () => createSecretKey(Buffer.alloc(32))],
  ])('%s has none', (_name, key) => {
    expect(algorithmOf(key())).toBeUndefined();
  });
});
