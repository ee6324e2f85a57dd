// What it means that a request is repeated with the same Idempotency-Key. Digests are keyed: a key may carry personal data, and
// the body of a request has a card number in it, which could be guessed from a plain hash.
import { createHmac } from 'node:crypto';
import type { DigestKeys } from '../secrets/derive-keys.ts';

export const keepKeySeconds = 24 * 60 * 60;

/** An answer as it was sent. The body is text, so that a repeated answer has the same bytes. */
export interface SentAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** The state decides these, so a repeated request gets them again. All other failures can be tried again with the same key. */
export const isKept = (status: number): boolean =>
  (status >= 200 && status < 300) || status === 404 || status === 409 || status === 422;

export interface KeptAnswer {
  /** Of the first request. */
  fingerprint: string;
  /** Undefined while the first request is running. `erased`: it showed a record that was erased since. */
  answer: SentAnswer | 'erased' | undefined;
}

/** A request with a key, and its right to be carried out. Slot and fingerprint are digests. */
export interface Claim {
  /** Tells it from other requests with the same key. */
  id: string;
  /** The merchant account, `allAccounts` or `noAccount`. */
  account: string;
  /** Stands for one key of one key pair in one merchant account. */
  slot: string;
  fingerprint: string;
}

/** Where answers are kept. `Unit` is the unit of work of a change. */
export interface KeptAnswers<Unit> {
  /** `claimed`: this request got the claim, as only one does, and others see it at once. Otherwise what is known of the key. */
  claim: (claim: Claim) => Promise<'claimed' | KeptAnswer>;
  /** Undefined when the key can be claimed. */
  find: (claim: Claim) => Promise<KeptAnswer | undefined>;
  keep: (claim: Claim, answer: SentAnswer, unit?: Unit) => Promise<void>;
  /** Nothing was changed: the next request with this key is carried out. Does nothing once an answer is kept. */
  release: (claim: Claim) => Promise<void>;
}

const digest = (keys: DigestKeys, ...parts: unknown[]): string =>
  createHmac('sha256', keys('idempotency')).update(canonical(parts)).digest('base64url');

export const slotOf = (
  keys: DigestKeys,
  { keyPairId, account }: { keyPairId: string; account: string },
  key: string,
): string => digest(keys, 'slot', keyPairId, account, key);

export const requestFingerprint = (
  keys: DigestKeys,
  { method, path, query, body }: { method: string; path: string; query: unknown; body: unknown },
): string => digest(keys, 'request', method, path, query, body);

/** Must not be kept in any form, not even as part of a digest: it has a thousand possible values. */
const neverKept = 'security_code';

/** The same text for the same JSON value, whatever the order of its properties. One that is null is the same as none. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([name, member]) => name !== neverKept && member !== null && member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
