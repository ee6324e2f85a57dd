// Idempotency keys: every write has one, so that it can be sent again after a lost connection or a 5xx.
import type { paths } from '../generated/types.ts';

export const keyHeader = 'Idempotency-Key';
/** Servers before contract 1.1 ignore keys and never send this header. */
export const replayedHeader = 'Idempotency-Replayed';

type KeyedPath = {
  [Path in keyof paths]: paths[Path] extends {
    post: { parameters: { header?: { [keyHeader]?: string } } };
  }
    ? Path
    : never;
}[keyof paths];

// Listed, because types are gone at run time; the compiler refuses a list with a path too many or too few.
const keyed: Record<KeyedPath, true> = { '/payment-methods': true, '/webhook-subscriptions': true };

export const takesKey = (method: string, path: string): boolean => method === 'POST' && path in keyed;

/** Not `crypto.randomUUID`, which pages without https do not have. */
export const makeKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
