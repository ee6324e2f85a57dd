// Signs access tokens with the private key of an API key pair, by WebCrypto, so that it runs and bundles everywhere. For
// servers only: never ship a private key to a browser.
import { base64url, importSigner, kindOf, pkcs8Of, type Signer } from './private-key.ts';
import type { Scope } from './types.ts';

export interface KeyPair {
  /**
   * PEM: the `private_key` of the pair, or the content of `.data/sandbox-key.pem`. Keys in another form than the service's own
   * (encrypted, or `EC PRIVATE KEY` and `RSA PRIVATE KEY`, as OpenSSL writes them) need a runtime with `node:crypto`.
   */
  privateKey: string | Uint8Array;
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
  token: Promise<string>;
  issuedAt: number;
  renewAt: number;
}

/** Signs one token, such as one with the scope `embed` for a checkout page. */
export const signToken = async (keyPair: KeyPair): Promise<string> => createSigner(keyPair)().token;

/**
 * A function for the client's `token` option: caches its token and signs a new one a minute before it expires, or when the service
 * refused it: by a clock that is ahead of ours, it expires earlier.
 */
export function createTokenSource(keyPair: KeyPair): (refused?: string) => Promise<string> {
  const sign = createSigner(keyPair);
  const { now = () => new Date() } = keyPair;
  let cached: SignedToken | undefined;
  return async (refused) => {
    const before = cached;
    const isRefused = refused !== undefined && (await before?.token) === refused;
    // Of several calls that were refused with the same token, the first signs a new one for all.
    if (isRefused && cached === before) cached = undefined;
    const seconds = secondsOf(now());
    // If the clock was set back, the service would refuse a token whose `iat` is in the future.
    if (!cached || seconds >= cached.renewAt || seconds < cached.issuedAt) cached = sign();
    const given = cached;
    return given.token.catch((error: unknown) => {
      // The next call tries again.
      if (cached === given) cached = undefined;
      throw error;
    });
  };
}

function createSigner(keyPair: KeyPair): () => SignedToken {
  const { scopes = ['*.read', '*.write'], lifetimeSeconds = 900, now = () => new Date(), jti } = keyPair;
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > maxLifetimeSeconds)
    throw new RangeError(`lifetimeSeconds must be a whole number from 1 to ${maxLifetimeSeconds}.`);
  const pkcs8 = pkcs8Of(keyPair.privateKey, keyPair.passphrase);
  const alg = kindOf(pkcs8);
  let signer: Promise<Signer> | undefined;
  const signClaims = async (claims: object): Promise<string> => {
    signer ??= importSigner(pkcs8, alg).catch((error: unknown) => {
      signer = undefined;
      throw error;
    });
    const { sign, thumbprint } = await signer;
    const content = `${encode({ alg, typ: 'JWT', kid: thumbprint })}.${encode(claims)}`;
    return `${content}.${await sign(content)}`;
  };
  return () => {
    const issuedAt = secondsOf(now());
    const exp = issuedAt + lifetimeSeconds;
    const margin = Math.min(renewalMarginSeconds, Math.ceil(lifetimeSeconds / 4));
    const token = signClaims({ scopes, iat: issuedAt, exp, jti: jti ?? crypto.randomUUID() });
    return { token, issuedAt, renewAt: exp - margin };
  };
}

const encode = (part: object): string => base64url(new TextEncoder().encode(JSON.stringify(part)));

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);
