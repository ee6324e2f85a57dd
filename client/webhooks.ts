// Checks deliveries as Standard Webhooks has it. WebCrypto only, so that it works in Node.js, workers and browsers alike.
import type { EventName, EventPayload } from '../generated/operations.ts';

/** Tell them apart by `name`. Later versions may add kinds, so let a `default` ignore what you do not know. */
export type WebhookEvent = { [Name in EventName]: EventPayload<Name> }[EventName];

export type WebhookVerificationCode =
  'missing_header' | 'timestamp' | 'signature' | 'malformed_secret' | 'malformed_body';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  /** `malformed_secret` is a fault of your own settings; all others are reasons to answer 400. */
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface Delivery {
  /** `request.headers`, of Node.js and of the Fetch API alike. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly as it came, never parsed and written again. */
  body: string | Uint8Array;
  /** How far the time of the delivery may be off, either way. Default 300. */
  toleranceSeconds?: number | undefined;
  now?: Date | undefined;
}

export type WebhookDelivery = Delivery &
  (
    | { /** The `secret` of the subscription. */ secret: string; secrets?: undefined }
    | {
        /** Several while one is rotated, or for several subscriptions. */ secrets: readonly string[];
        secret?: undefined;
      }
  );

/** The event of a delivery, once it is certain that it comes from the service; otherwise throws WebhookVerificationError. */
export async function verifyWebhook(delivery: WebhookDelivery): Promise<WebhookEvent> {
  const { headers, body, toleranceSeconds = 300, now = new Date() } = delivery;
  // Callers without a compiler, above all those behind express.json().
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('`body` must be the bytes or the text as received, not what was parsed from it.');
  const keys = (delivery.secrets ?? [delivery.secret]).map(keyOf);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  const secondsOff = Math.abs(
    now.getTime() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN),
  );
  // Said this way round so that NaN is refused.
  if (!(secondsOff <= toleranceSeconds))
    throw new WebhookVerificationError(
      'timestamp',
      `webhook-timestamp is not within ${toleranceSeconds} s of now.`,
    );
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  if (!(await isSigned(concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes), signatures, keys)))
    throw new WebhookVerificationError('signature', 'No signature fits: forged, altered, or another secret.');
  return parse(bytes);
}

type Bytes = Uint8Array<ArrayBuffer>;

async function isSigned(content: Bytes, signatures: string, keys: readonly Bytes[]): Promise<boolean> {
  const given = signatures.split(' ').flatMap((signature) => {
    const [version, text = ''] = signature.split(',');
    return version === 'v1' ? (fromBase64(text) ?? []) : [];
  });
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const key of keys) {
    const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['verify']);
    // `verify` compares in constant time.
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', imported, signature, content)) return true;
  }
  return false;
}

const prefix = 'whsec_';

function keyOf(secret: string): Bytes {
  const key = secret.startsWith(prefix) ? fromBase64(secret.slice(prefix.length)) : undefined;
  if (!key || key.length === 0)
    throw new WebhookVerificationError('malformed_secret', 'A secret is `whsec_` and the base64 of a key.');
  return key;
}

function fromBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function headerOf(headers: Delivery['headers'], name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = typeof value === 'string' ? value : value?.join(' ');
  if (!text) throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`);
  return text;
}

function concat(head: Uint8Array, tail: Uint8Array): Bytes {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function parse(bytes: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof event === 'object' && event !== null && 'type' in event && event.type === 'event')
      return event as WebhookEvent;
  } catch {
    // Falls through to the one refusal below.
  }
  throw new WebhookVerificationError('malformed_body', 'The signature is right, but the body is no event.');
}
