// The official library of Standard Webhooks is the judge of our signatures.
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../server/kit/events/deliver.ts';

const secret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);

describe(`webhook signatures`, () => {
  it('are accepted with each valid secret, and with no other', () => {
    fc.assert(
      fc.property(secret, secret, secret, fc.uuid(), fc.object(), (current, older, foreign, id, content) => {
        fc.pre(new Set([current, older, foreign]).size === 3);
        const body = JSON.stringify(content);
        const headers = webhookHeaders(id, body, [current, older], new Date());
        for (const valid of [current, older])
          expect(new Webhook(valid).verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => new Webhook(foreign).verify(body, headers)).toThrow('No matching signature');
        expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow('No matching signature');
        const renamed = { ...headers, 'webhook-id': `${id}x` };
        expect(() => new Webhook(current).verify(body, renamed)).toThrow('No matching signature');
      }),
    );
  });

  it('have the second of the attempt, rounded down, and one signature per secret', () => {
    const now = new Date('2026-11-15T10:30:00.999Z');
    const headers = webhookHeaders('event', '{}', ['whsec_AAAA', 'whsec_BBBB'], now);
    expect(headers).toEqual({
      'webhook-id': 'event',
      'webhook-timestamp': '1794738600',
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/) as string,
    });
  });
});
