// What it means that a request is repeated with the same Idempotency-Key. Digests are keyed: a key may carry personal data, and
// the body of a request has a card number in it, which could be guessed from a plain hash.
import { createHmac } from 'node:crypto';
import { binOf, lastFour } from './cards.ts';

/** How long a key is valid. */
export const keepKeyMilliseconds = 24 * 60 * 60 * 1000;

/** Whose the keys of requests are that are not about one account: about several, or about none. No account has these IDs. */
export const ownerOfSeveral = '*';
export const noOwner = '';

/** An answer as it was sent. The body is text, so that a repeated answer has the same bytes. */
export interface SentAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** The state decides these, so a repeated request gets them again. All other failures can be tried again with the same key. */
export const isKept = (status: number): boolean =>
  (status >= 200 && status < 300) || status === 404 || status === 409 || status === 422;

export interface Known {
  fingerprint: string;
  /** Undefined while the first request is running. */
  answer: SentAnswer | undefined;
}

/** The right to carry out the request. `Unit` is the unit of work of the change. */
export interface Claim<Unit> {
  /** Without a unit of work, in a transaction of its own. */
  keep: (answer: SentAnswer, unit?: Unit) => Promise<void>;
  /** Nothing was changed: the next request with this key is carried out. Does nothing once an answer is kept. */
  release: () => Promise<void>;
}

/** A request with a key, as digests. A slot stands for one key of one key pair in one merchant account. */
export interface Keyed {
  /** The merchant account, `ownerOfSeveral` or `noOwner`. */
  account: string;
  slot: string;
  fingerprint: string;
  /** The same request as versions 1.2 and 1.3 stored it, for the day in which their keys are valid. */
  olderFingerprint: string;
}

/**
 * Where answers are kept. A request has digests of every secret that is in use; there are several during a rotation of the
 * secret. It is known if one of its slots is, and it claims all of them, so that instances with different secrets agree as long
 * as they share one.
 */
export interface KeptAnswers<Unit> {
  /** What is known of the request. If nothing is, it is claimed: of several callers one gets the claim. */
  claim: (keyed: readonly Keyed[]) => Promise<{ claim: Claim<Unit> } | { known: Known }>;
  /** Undefined when the request can be claimed. */
  find: (keyed: readonly Keyed[]) => Promise<Known | undefined>;
}

export interface KeyedRequest {
  method: string;
  path: string;
  query: unknown;
  body: unknown;
}

export interface IdempotencyDigests {
  slotOf: (owner: { keyPairId: string; account: string }, key: string) => string;
  fingerprintOf: (request: KeyedRequest) => string;
  /** Of versions 1.2 and 1.3, without the middle of a card number and with null. Only compared, never stored. */
  olderFingerprintOf: (request: KeyedRequest) => string;
}

export function createIdempotencyDigests(secret: Buffer): IdempotencyDigests {
  // A key of its own, so that these digests can never be compared with the fingerprints of cards.
  const key = createHmac('sha256', secret).update('idempotency').digest();
  const digest = (keep: Keep, ...parts: unknown[]) =>
    createHmac('sha256', key).update(canonical(parts, keep)).digest('base64url');
  const requestDigest =
    (keep: Keep) =>
    ({ method, path, query, body }: KeyedRequest) =>
      digest(keep, 'request', method, path, query, body);
  return {
    slotOf: ({ keyPairId, account }, given) => digest(withoutNull, 'slot', keyPairId, account, given),
    fingerprintOf: requestDigest(withoutNull),
    olderFingerprintOf: requestDigest(withoutMiddle),
  };
}

/** Must not be kept in any form, not even as part of a digest: it has a thousand possible values. */
const neverKept = 'security_code';

/** Undefined leaves the property out. */
type Keep = (name: string, value: unknown) => unknown;

/** A property that is null is the same as one that is absent. */
const withoutNull: Keep = (_name, value) => value ?? undefined;

const withoutMiddle: Keep = (name, value) =>
  name === 'number' && typeof value === 'string' && /^\d{12,19}$/.test(value)
    ? [binOf(value), lastFour(value), value.length]
    : value;

/** The same text for the same JSON value, whatever the order of its properties. */
function canonical(value: unknown, keep: Keep): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, keep)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .map(([name, member]) => ({ name, kept: name === neverKept ? undefined : keep(name, member) }))
    .filter(({ kept }) => kept !== undefined)
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, kept }) => `${JSON.stringify(name)}:${canonical(kept, keep)}`);
  return `{${members.join(',')}}`;
}
