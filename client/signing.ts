// Signs access tokens with the private key of an API key pair. For servers only: never ship a private key to a browser.
import { createHash, createPrivateKey, createPublicKey, randomUUID, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Scope } from './types.ts';

export interface KeyPair {
  /** PEM: the `private_key` of the pair, or the content of `.data/sandbox-key.pem`. */
  privateKey: string | Buffer;
  /** If the key is encrypted. */
  passphrase?: string | undefined;
  /** Default `*.read` and `*.write`; the roles of the key pair restrict them further. */
  scopes?: readonly Scope[] | undefined;
  /** Default 900, at most 86400. */
  lifetimeSeconds?: number | undefined;
  /** The ID of the token (claim `jti`). Default: random, so that tokens signed in the same second have a rate limit each. */
  jti?: string | undefined;
  /** For tests. */
  now?: (() => Date) | undefined;
}

const maxLifetimeSeconds = 24 * 60 * 60;
const renewalMarginSeconds = 60;

interface SignedToken {
  token: string;
  issuedAt: number;
  renewAt: number;
}

/** Signs one token, such as one with the scope `embed` for a checkout page. */
export const signToken = (keyPair: KeyPair): string => createSigner(keyPair)().token;

/** A function for the client's `token` option: caches its token and signs a new one a minute before it expires. */
export function createTokenSource(keyPair: KeyPair): () => string {
  const sign = createSigner(keyPair);
  const { now = () => new Date() } = keyPair;
  let cached: SignedToken | undefined;
  return () => {
    const seconds = secondsOf(now());
    // If the clock was set back, the service would refuse a token whose `iat` is in the future.
    if (!cached || seconds >= cached.renewAt || seconds < cached.issuedAt) cached = sign();
    return cached.token;
  };
}

function createSigner(keyPair: KeyPair): () => SignedToken {
  const { privateKey, passphrase, scopes = ['*.read', '*.write'], lifetimeSeconds = 900 } = keyPair;
  const { now = () => new Date(), jti } = keyPair;
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > maxLifetimeSeconds)
    throw new RangeError(`lifetimeSeconds must be a whole number from 1 to ${maxLifetimeSeconds}.`);
  const key = createPrivateKey({ key: privateKey, format: 'pem', passphrase });
  const algorithm = algorithmOf(key);
  const keyid = thumbprint(key);
  return () => {
    const issuedAt = secondsOf(now());
    const claims = { scopes, iat: issuedAt, exp: issuedAt + lifetimeSeconds, jti: jti ?? randomUUID() };
    const margin = Math.min(renewalMarginSeconds, Math.ceil(lifetimeSeconds / 4));
    return {
      token: jwt.sign(claims, key, { algorithm, keyid }),
      issuedAt,
      renewAt: claims.exp - margin,
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
