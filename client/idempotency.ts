// Idempotency keys: every write has one, so that it can be sent again after a lost connection or a 5xx.
export const keyHeader = 'Idempotency-Key';

/** Not `crypto.randomUUID`, which pages without https do not have. */
export const makeKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
