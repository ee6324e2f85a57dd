// Refusals over HTTP. Which violations a request gets is tested in test/contract/violations.test.ts, without a service.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Detail } from '../../server/kit/errors.ts';
import { card } from '../support/card.ts';
import { document } from '../support/requests.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('over HTTP', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('a body nested too deeply for recursion is refused with 400', async () => {
    const { status, body } = await service.call('POST', '/gift-cards/balances', {
      token: service.token('gift-cards.read'),
      raw: `{"items":${'['.repeat(49_000)}${']'.repeat(49_000)}}`,
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ details: [{ pointer: '/items/0', type: 'type_error.object' }] });
  });

  describe('the error examples of the contract are what the service answers', () => {
    const examples = document.components.examples as Record<
      string,
      { value: { code?: string; details?: Detail[] } }
    >;
    type Call = Parameters<TestService['call']>;
    const as = (...scopes: string[]) => ({ token: service.token(...scopes) });
    const pairs: Record<string, () => Call> = {
      ErrorInvalidQuery: () => ['GET', '/transactions?limit=0&curency=USD', as('*.read')],
      ErrorInvalidHeader: () => [
        'GET',
        '/transactions',
        { ...as('*.read'), headers: { 'X-Service-Merchant-Account-ID': 'x'.repeat(256) } },
      ],
      ErrorUnauthorized: () => ['GET', '/transactions', {}],
      ErrorForbidden: () => ['GET', '/transactions', as('payment-methods.write')],
      ErrorNotFound: () => [
        'GET',
        '/transactions',
        { ...as('*.read'), headers: { 'X-Service-Merchant-Account-ID': 'unicorn' } },
      ],
      ErrorMethodNotAllowed: () => ['DELETE', '/transactions', as('*.write')],
      ErrorForeignCursor: () => ['GET', '/api-key-pairs?cursor=unicorn', as('*.read')],
      ErrorTooEarly: () => [
        'POST',
        '/payment-methods',
        { ...as('*.write'), body: card, headers: { 'Early-Data': '1' } },
      ],
      ErrorMissingPin: () => [
        'POST',
        '/gift-cards/balances',
        { ...as('*.read'), body: { items: [{ number: '9999000050001234' }] } },
      ],
      ErrorMalformedJson: () => ['POST', '/payment-methods', { ...as('*.write'), raw: '{"method":' }],
      ErrorMissingNumber: () => [
        'POST',
        '/payment-methods',
        { ...as('*.write'), body: { method: 'card', expiration_date: '12-39' } },
      ],
      ErrorBuyerNotFound: () => [
        'POST',
        '/payment-methods',
        { ...as('*.write'), body: { ...card, buyer_external_identifier: 'no-such-buyer' } },
      ],
      ErrorTwoBuyers: () => [
        'POST',
        '/payment-methods',
        {
          ...as('*.write'),
          body: {
            ...card,
            buyer_id: 'fe26475d-ec3e-4884-9553-f7356683f7f9',
            buyer_external_identifier: 'buyer-412',
          },
        },
      ],
      ErrorInvalidUrl: () => [
        'POST',
        '/webhook-subscriptions',
        { ...as('*.write'), body: { url: 'ftp://shop.example/hooks' } },
      ],
    };
    // Any other code is told by a handler, the provider or a crash, so held against the service in the tests of those.
    const ofPipeline = [
      ...['bad_request', 'unauthorized', 'forbidden', 'not_found', 'method_not_allowed', 'too_early'],
      undefined, // 422
    ];
    const ofHandlers = [
      'ErrorIdempotencyKeyReused',
      'ErrorInvalidHost',
      'ErrorInvalidRedirectHost',
      'ErrorInvalidMetadata',
      'ErrorPlainHttp',
    ];

    it.each(Object.keys(pairs))('%s', async (name) => {
      const { body } = await service.call(...(pairs[name]?.() ?? ['', '']));
      expect(body).toEqual(examples[name]?.value);
    });

    it('none is left out', () => {
      const errors = Object.entries(examples).flatMap(([name, { value }]) =>
        name.startsWith('Error') && ofPipeline.includes(value.code) ? [name] : [],
      );
      expect([...Object.keys(pairs), ...ofHandlers].sort()).toEqual(errors.sort());
    });
  });
});
