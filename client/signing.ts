// Signs access tokens with the private key of an API key pair. For servers only: a private key has no place in a browser.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Scope } from './types.ts';

export interface KeyPair {
  /** PEM: the `private_key` of the pair, or the content of `.data/sandbox-key.pem`. */
  privateKey: string | Buffer;
  /** Of an encrypted key. */
  passphrase?: string | undefined;
  /** Default `*.read` and `*.write`; the roles of the pair bound them anyway. */
  scopes?: readonly Scope[] | undefined;
  /** Default 900, at most 86400. */
  lifetimeSeconds?: number | undefined;
  /** For tests. */
  now?: (() => Date) | undefined;
}

const longestLifetimeSeconds = 24 * 60 * 60;
const renewSecondsBefore = 60;

interface Signed {
  token: string;
  issued: number;
  renewal: number;
}

/** A token of its own, such as one with the scope `embed` for a checkout page. */
export const signToken = (keyPair: KeyPair): string => createSigner(keyPair)().token;

/** A source for `token`: remembers its token and signs the next one a minute before that ends. */
export function createTokenSource(keyPair: KeyPair): () => string {
  const sign = createSigner(keyPair);
  const { now = () => new Date() } = keyPair;
  let signed: Signed | undefined;
  return () => {
    const seconds = secondsOf(now());
    // A token from before the clock was set back would be refused as one from the future.
    if (!signed || seconds >= signed.renewal || seconds < signed.issued) signed = sign();
    return signed.token;
  };
}

function createSigner(keyPair: KeyPair): () => Signed {
  const { privateKey, passphrase, scopes = ['*.read', '*.write'], lifetimeSeconds = 900 } = keyPair;
  const { now = () => new Date() } = keyPair;
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > longestLifetimeSeconds)
    throw new RangeError(`lifetimeSeconds must be a whole number from 1 to ${longestLifetimeSeconds}.`);
  const key = createPrivateKey({ key: privateKey, format: 'pem', passphrase });
  const algorithm = algorithmOf(key);
  const keyid = thumbprint(key);
  return () => {
    const issued = secondsOf(now());
    const claims = { scopes, iat: issued, exp: issued + lifetimeSeconds };
    const margin = Math.min(renewSecondsBefore, Math.ceil(lifetimeSeconds / 4));
    return {
      token: jwt.sign(claims, key, { algorithm, keyid }),
      issued,
      renewal: claims.exp - margin,
    };
  };
}

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): 'ES512' | 'RS512' {
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'secp521r1') return 'ES512';
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) return 'RS512';
  throw new TypeError('The private key is neither ECDSA on P-521 nor RSA of 2048 bits or more.');
}

/** RFC 7638: SHA-256 of the required members of the JWK, in this order and without white space. */
function thumbprint(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = createPublicKey(key).export({ format: 'jwk' });
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
