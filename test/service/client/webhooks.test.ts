// The client verifies deliveries that the Standard Webhooks library signed.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { fastify } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  verifyWebhook,
  WebhookVerificationError,
  type WebhookDelivery,
  type WebhookEvent,
} from '../../../client/index.ts';
import { signTestWebhook } from '../../../client/server.ts';
import { root } from '../../support/processes.ts';
import { transaction } from '../../support/transactions.ts';

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const secret = newSecret();
const now = new Date('2026-11-15T10:30:00.000Z');
const id = randomUUID();
const event: WebhookEvent = {
  type: 'event',
  id,
  name: 'transaction.updated',
  created_at: now.toISOString(),
  merchant_account_id: 'default',
  target: transaction({ external_identifier: 'Größe 😀' }),
};
const body = JSON.stringify(event);

const sign = (by = secret, at = now, what = body) => new Webhook(by).sign(id, at, what);
const headersAt = (at = now, signature = sign(secret, at)) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': signature,
});
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

const verify = (given: Partial<WebhookDelivery> = {}) =>
  verifyWebhook({ headers: headersAt(), body, secret, now, ...given } as WebhookDelivery);

const refusal = async (given: Partial<WebhookDelivery>): Promise<string> => {
  const error: unknown = await verify(given).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(WebhookVerificationError);
  return (error as WebhookVerificationError).code;
};

describe('a delivery that signTestWebhook signed', () => {
  it.each([
    ['text', body],
    ['bytes', Buffer.from(body)],
  ])('is genuine to the verifier and to others, as %s', async (_, sent) => {
    const headers = await signTestWebhook({ body: sent, secret });
    expect(await verifyWebhook({ headers, body: sent, secret })).toEqual(event);
    expect(new Webhook(secret).verify(sent, headers)).toEqual(event);
    expect((await signTestWebhook({ body: sent, secret }))['webhook-id']).not.toBe(headers['webhook-id']);
  });

  it('is of another time or secret, if the test says so', async () => {
    const old = await signTestWebhook({ body, secret, now });
    await expect(verifyWebhook({ headers: old, body, secret })).rejects.toMatchObject({ code: 'timestamp' });
    expect(await verify({ headers: old })).toEqual(event);
    expect(await refusal({ headers: await signTestWebhook({ body, secret: newSecret(), now }) })).toBe(
      'signature',
    );
    await expect(signTestWebhook({ body, secret: 'x' })).rejects.toMatchObject({ code: 'malformed_secret' });
  });
});

describe('a genuine delivery', () => {
  it('returns its event', async () => {
    expect(await verify()).toEqual(event);
  });

  it('is one with today’s clock, unless told otherwise', async () => {
    const at = new Date();
    expect(await verifyWebhook({ headers: headersAt(at), body, secret })).toEqual(event);
  });

  it.each([
    ['bytes', new TextEncoder().encode(body)],
    ['a Buffer', Buffer.from(body)],
    ['a part of a larger buffer', Buffer.from(`xx${body}yy`).subarray(2, -2)],
  ])('may have %s as body', async (_, bytes) => {
    expect(await verify({ body: bytes })).toEqual(event);
  });

  it.each([
    ['Headers', new Headers(headersAt())],
    [
      'upper case',
      Object.fromEntries(Object.entries(headersAt()).map(([key, value]) => [key.toUpperCase(), value])),
    ],
    [
      'lists of values',
      Object.fromEntries(Object.entries(headersAt()).map(([key, value]) => [key, [value]])),
    ],
    ['other headers', { ...headersAt(), 'content-type': 'application/json', cookie: undefined }],
  ])('may have its headers as %s', async (_, headers) => {
    expect(await verify({ headers })).toEqual(event);
  });

  it('may be signed twice, by the old secret and the new', async () => {
    const other = newSecret();
    const signature = `${sign(other)} ${sign()}`;
    const headers = headersAt(now, signature);
    expect(await verify({ headers })).toEqual(event);
    expect(await verify({ headers, secret: other })).toEqual(event);
  });

  it('may have signatures of kinds that are not ours', async () => {
    const headers = headersAt(now, `v1a,AAAA v2,${sign().slice(3)} v1, v1,%% nonsense ${sign()}`);
    expect(await verify({ headers })).toEqual(event);
  });

  it('may fit the second of several secrets', async () => {
    const delivery = { headers: headersAt(), body, now };
    expect(await verifyWebhook({ ...delivery, secrets: [newSecret(), secret] })).toEqual(event);
    await expect(verifyWebhook({ ...delivery, secrets: [newSecret(), newSecret()] })).rejects.toMatchObject({
      code: 'signature',
    });
    await expect(verifyWebhook({ ...delivery, secrets: [] })).rejects.toMatchObject({ code: 'signature' });
  });

  it.each([-300, -1, 1, 300])('may be %i s away', async (seconds) => {
    expect(await verify({ headers: headersAt(later(seconds)) })).toEqual(event);
  });

  it('may be of a kind that this version does not know', async () => {
    const text = JSON.stringify({ ...event, name: 'refund.created' });
    const headers = headersAt(now, sign(secret, now, text));
    expect(await verify({ body: text, headers })).toMatchObject({ name: 'refund.created' });
  });
});

describe('a delivery is refused', () => {
  it('when it is signed by another secret', async () => {
    expect(await refusal({ headers: headersAt(now, sign(newSecret())) })).toBe('signature');
  });

  it.each([
    ['empty base64', 'v1,'],
    ['no version', sign().slice(3)],
    ['another version', `v2,${sign().slice(3)}`],
    ['a prefix of the right one', sign().slice(0, 20)],
    ['no base64', 'v1,ä!'],
  ])('when the signature is %s', async (_, signature) => {
    expect(await refusal({ headers: headersAt(now, signature) })).toBe('signature');
  });

  it('when the body was altered, if only by a space', async () => {
    expect(await refusal({ body: `${body} ` })).toBe('signature');
    expect(await refusal({ body: body.replace('1299', '1298') })).toBe('signature');
    expect(await refusal({ body: JSON.stringify(JSON.parse(body), null, 2) })).toBe('signature');
    expect(await refusal({ body: '' })).toBe('signature');
  });

  it('when its ID is another', async () => {
    expect(await refusal({ headers: { ...headersAt(), 'webhook-id': randomUUID() } })).toBe('signature');
  });

  it('when its time was moved', async () => {
    const headers = { ...headersAt(), 'webhook-timestamp': headersAt(later(1))['webhook-timestamp'] };
    expect(await refusal({ headers })).toBe('signature');
  });

  it.each([-301, 301, -86_400, 86_400])('when it is %i s away', async (seconds) => {
    expect(await refusal({ headers: headersAt(later(seconds)) })).toBe('timestamp');
  });

  it('when it is further away than the caller allows', async () => {
    const headers = headersAt(later(-11));
    expect(await refusal({ headers, toleranceSeconds: 10 })).toBe('timestamp');
    expect(await verify({ headers, toleranceSeconds: 11 })).toEqual(event);
    expect(await refusal({ headers, toleranceSeconds: Number.NaN })).toBe('timestamp');
    expect(await refusal({ headers, now: new Date(Number.NaN) })).toBe('timestamp');
  });

  it.each(['soon', '1.5', '-1', '1e9', ' ', '0x10', '9'.repeat(400)])(
    'when its time is `%s`',
    async (text) => {
      expect(await refusal({ headers: { ...headersAt(), 'webhook-timestamp': text } })).toBe('timestamp');
    },
  );

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('when %s is missing', async (name) => {
    for (const value of [undefined, '', []]) {
      expect(await refusal({ headers: { ...headersAt(), [name]: value } })).toBe('missing_header');
    }
    const headers = new Headers(headersAt());
    headers.delete(name);
    expect(await refusal({ headers })).toBe('missing_header');
  });

  it.each(['', 'whsec_', 'whsec_%%%', secret.slice(6), 'none'])(
    'when the secret is `%s`',
    async (malformed) => {
      expect(await refusal({ secret: malformed })).toBe('malformed_secret');
    },
  );

  it.each(['no JSON', 'null', '[]', '{"type":"transaction"}'])(
    'when the body, well signed, is `%s`',
    async (text) => {
      const headers = headersAt(now, sign(secret, now, text));
      expect(await refusal({ body: text, headers })).toBe('malformed_body');
    },
  );

  it('when the secret is missing, with a word on where it is', async () => {
    for (const missing of [{ secret: undefined }, { secrets: [secret, undefined] }])
      await expect(verify(missing as never)).rejects.toThrow(
        new TypeError('`secret` is missing; it is shown when the subscription is created.'),
      );
  });

  it('when what came was parsed already, with a word on why', async () => {
    await expect(verify({ body: event as never })).rejects.toThrow(/not the parsed JSON.*express\.raw/);
  });
});

describe('a framework keeps the raw body, as the guide says', () => {
  const guide = readFileSync(join(root, 'docs/guides/webhooks.md'), 'utf8');
  const deliver = (url: string) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headersAt(), 'content-type': 'application/json' },
      body,
    }).then((response) => response.text());

  it('Express', async () => {
    expect(guide).toContain(`express.raw({ type: '*/*' })`);
    const app = express();
    app.post('/hook', express.raw({ type: '*/*' }), async (request, response) => {
      const { name } = await verify({ headers: request.headers, body: request.body as Uint8Array });
      response.send(name);
    });
    app.use(express.json());
    const server = createServer(app);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    expect(await deliver(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)).toBe(event.name);
    server.close();
  });

  it('Fastify', async () => {
    expect(guide).toContain(
      `addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))`,
    );
    const app = fastify();
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, raw, done) => {
      done(null, raw);
    });
    app.post('/hook', async (request) => {
      const { name } = await verify({ headers: request.headers, body: request.body as Uint8Array });
      return name;
    });
    expect(await deliver(`${await app.listen()}/hook`)).toBe(event.name);
    await app.close();
  });
});
