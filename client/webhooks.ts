// Verifies webhook deliveries (Standard Webhooks), and signs some for tests. Uses WebCrypto only, so it works in Node.js, workers and browsers.
import type { EventName } from '../generated/operations.ts';
import { parseJson } from './json.ts';
import type { EventPayload } from './types.ts';

/** A union, discriminated by `name`. Later versions may add events, so ignore names that you do not know. */
export type WebhookEvent = { [Name in EventName]: EventPayload<Name> }[EventName];

export type WebhookVerificationCode =
  'missing_header' | 'timestamp' | 'signature' | 'malformed_secret' | 'malformed_body';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  /** `malformed_secret` is a configuration error of the receiver: answer 500. Answer 400 for all others. */
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface Delivery {
  /** `request.headers` of Node.js or of the Fetch API. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body. Parsing and serializing it again breaks the signature. */
  body: string | Uint8Array;
  /** Maximum difference between `webhook-timestamp` and now, in the past or the future. Default 300. */
  toleranceSeconds?: number | undefined;
  now?: Date | undefined;
}

export type WebhookDelivery = Delivery &
  (
    | { /** The `secret` of the subscription. */ secret: string; secrets?: undefined }
    | {
        /** The old and the new one during a rotation, or those of several subscriptions. */
        secrets: readonly string[];
        secret?: undefined;
      }
  );

/** Returns the event if the service signed the delivery; otherwise throws a WebhookVerificationError. */
export async function verifyWebhook(delivery: WebhookDelivery): Promise<WebhookEvent> {
  const { headers, body, toleranceSeconds = 300, now = new Date() } = delivery;
  // For JavaScript callers: express.json() replaces the body with the parsed object.
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError(
      "`body` must be the raw body as bytes or text, not the parsed JSON. With Express: express.raw({ type: '*/*' })",
    );
  const keys = (delivery.secrets ?? [delivery.secret]).map(keyOf);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  const secondsOff = Math.abs(
    now.getTime() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN),
  );
  // Negated, so that NaN is refused too.
  if (!(secondsOff <= toleranceSeconds))
    throw new WebhookVerificationError(
      'timestamp',
      `webhook-timestamp is not within ${toleranceSeconds} s of now.`,
    );
  if (!(await isSigned(signedContent(id, timestamp, body), signatures, keys)))
    throw new WebhookVerificationError(
      'signature',
      'No signature matches: wrong secret, or a forged or altered delivery.',
    );
  return parse(body);
}

/** The headers with which the service would send this body, for tests of a receiver. */
export async function signTestWebhook({
  body,
  secret,
  now = new Date(),
}: Pick<Delivery, 'body' | 'now'> & { secret: string }): Promise<Record<string, string>> {
  const id = crypto.randomUUID();
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const key = await crypto.subtle.importKey('raw', keyOf(secret), algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, signedContent(id, timestamp, body));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${base64}` };
}

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

type Bytes = Uint8Array<ArrayBuffer>;

async function isSigned(content: Bytes, signatures: string, keys: readonly Bytes[]): Promise<boolean> {
  const given = signatures.split(' ').flatMap((signature) => {
    const [version, text = ''] = signature.split(',');
    return version === 'v1' ? (fromBase64(text) ?? []) : [];
  });
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
  // For JavaScript callers, such as one whose environment variable is not set.
  if (typeof secret !== 'string')
    throw new TypeError('`secret` is missing; it is shown when the subscription is created.');
  const key = secret.startsWith(prefix) ? fromBase64(secret.slice(prefix.length)) : undefined;
  if (!key || key.length === 0)
    throw new WebhookVerificationError('malformed_secret', 'A secret is `whsec_` followed by a base64 key.');
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

const bytesOf = (body: Delivery['body']): Uint8Array =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body;

function signedContent(id: string, timestamp: string, body: Delivery['body']): Bytes {
  const [head, tail] = [bytesOf(`${id}.${timestamp}.`), bytesOf(body)];
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function parse(body: Delivery['body']): WebhookEvent {
  try {
    const event: unknown = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(body)));
    if (typeof event === 'object' && event !== null && 'type' in event && event.type === 'event')
      return event as WebhookEvent;
  } catch {
    // Throw below, as for JSON that is not an event.
  }
  throw new WebhookVerificationError(
    'malformed_body',
    'The signature is valid, but the body is not an event.',
  );
}
