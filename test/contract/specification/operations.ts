/** "Endpoints" and "Events", one entry for each operation and event. */
import { constant, dateTime, object, string, uuid, type Rule } from './notation.ts';
import {
  balanceRequest,
  page,
  paymentMethodRequest,
  subscriptionRequest,
  transactionFilters,
} from './requests.ts';
import * as resources from './resources.ts';

export interface Operation {
  id: string;
  method: 'get' | 'post';
  path: string;
  /** Any one of these scopes is enough. */
  scopes: string[];
  merchantScope: 'none' | 'one' | 'many';
  rateLimit?: { scope: string; limit: number; window_seconds: number };
  query: Record<string, Rule>;
  body?: Rule;
  /** Whole bodies that the contract lets through, and bodies that it refuses. */
  bodies?: { accepts: unknown[]; refuses: unknown[] };
  success: number;
  answer: Rule;
  errors: number[];
  /** Takes an Idempotency-Key (open points): every POST that writes. */
  takesKey?: true;
  /** Statuses that the specification lists and that can never happen here. */
  reserved: number[];
}

const anId = '6f1f7a52-6d3c-4a4b-9a55-0a3c1f5e7a11';
const card = { method: 'card', number: '4111111111111111', expiration_date: '11/39' };
const newGiftCard = { number: '1234567890123456', pin: '1234' };
const login = { kind: 'basic', username: 'name', password: 'word' };
const https = 'https://a.example/hook';

export const operations: Operation[] = [
  {
    id: 'listApiKeyPairs',
    method: 'get',
    path: '/api-key-pairs',
    scopes: ['api-key-pairs.read'],
    merchantScope: 'none',
    query: page(100),
    success: 200,
    answer: resources.collection(resources.apiKeyPair, 100),
    errors: [400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 502, 504],
    reserved: [404, 409, 425, 429, 502, 504],
  },
  {
    id: 'checkGiftCardBalances',
    method: 'post',
    path: '/gift-cards/balances',
    scopes: ['gift-cards.read', 'embed'],
    merchantScope: 'one',
    rateLimit: { scope: 'embed', limit: 50, window_seconds: 60 },
    query: {},
    body: balanceRequest,
    bodies: {
      accepts: [{ items: [newGiftCard, { id: anId }] }, { items: Array<object>(10).fill({ id: anId }) }],
      refuses: [
        ...[{}, { items: [] }, { items: Array<object>(11).fill({ id: anId }) }, [{ id: anId }]],
        ...[
          { ...newGiftCard, id: anId },
          { number: newGiftCard.number },
          { pin: '1' },
          {},
          { id: 'x' },
          null,
        ].map((entry) => ({ items: [entry] })),
        { items: [{ id: anId }], extra: 1 },
      ],
    },
    success: 200,
    answer: resources.itemsOnly(resources.giftCardBalance),
    errors: [400, 401, 403, 404, 405, 425, 429, 500, 502, 504],
    reserved: [],
  },
  {
    id: 'createPaymentMethod',
    method: 'post',
    path: '/payment-methods',
    scopes: ['payment-methods.write'],
    merchantScope: 'one',
    query: {},
    body: paymentMethodRequest,
    bodies: {
      accepts: [
        ...[card, { ...card, buyer_id: anId }, { ...card, buyer_external_identifier: 'b' }],
        { ...card, security_code: '123', external_identifier: 'e', redirect_url: https },
        { ...card, security_code: null, external_identifier: null, redirect_url: null },
        { ...card, redirect_url: `https://a.example/${'x'.repeat(1900)}` },
        { ...card, expiration_date: '13/39' }, // a matter of state, not of shape
      ],
      refuses: [
        ...[{ ...card, buyer_id: anId, buyer_external_identifier: 'b' }, { ...card, extra: 1 }, {}],
        ...[
          { ...card, method: 'paypal' },
          { ...card, number: '411111111111' },
          { ...card, security_code: '12' },
        ],
        ...[
          { ...card, buyer_id: 'b' },
          { ...card, buyer_id: null },
          { ...card, redirect_url: 'no address' },
        ],
      ],
    },
    success: 201,
    answer: resources.paymentMethod,
    takesKey: true,
    errors: [400, 401, 403, 404, 405, 409, 422, 425, 500],
    reserved: [],
  },
  {
    id: 'listTransactions',
    method: 'get',
    path: '/transactions',
    scopes: ['transactions.read'],
    merchantScope: 'many',
    query: transactionFilters,
    success: 200,
    answer: resources.collection(resources.transaction, 500),
    errors: [400, 401, 403, 404, 405, 422, 500],
    reserved: [],
  },
  {
    id: 'listCardSchemeDefinitions',
    method: 'get',
    path: '/card-scheme-definitions',
    scopes: ['card-scheme-definitions.read'],
    merchantScope: 'none',
    query: {},
    success: 200,
    answer: resources.itemsOnly(resources.cardSchemeDefinition),
    errors: [400, 401, 403, 405, 500],
    reserved: [],
  },
  {
    id: 'createWebhookSubscription',
    method: 'post',
    path: '/webhook-subscriptions',
    scopes: ['webhook-subscriptions.write'],
    merchantScope: 'many',
    query: {},
    body: subscriptionRequest,
    bodies: {
      accepts: [
        { url: https },
        { url: https, active: false, authentication: null },
        { url: https, authentication: login },
      ],
      refuses: [
        ...[{}, { url: null }, { url: 'ftp://a.example' }, { url: `https://a.example/${'x'.repeat(2000)}` }],
        ...[
          { url: https, extra: 1 },
          { url: https, active: null },
        ],
        ...[{ ...login, kind: 'bearer' }, { ...login, extra: 1 }, { kind: 'basic' }, {}].map(
          (authentication) => ({
            url: https,
            authentication,
          }),
        ),
      ],
    },
    success: 201,
    answer: resources.webhookSubscription,
    takesKey: true,
    errors: [400, 401, 403, 404, 405, 422, 425, 500],
    reserved: [],
  },
  {
    id: 'listWebhookSubscriptions',
    method: 'get',
    path: '/webhook-subscriptions',
    scopes: ['webhook-subscriptions.read'],
    merchantScope: 'many',
    query: page(100),
    success: 200,
    answer: resources.collection(resources.webhookSubscription, 100),
    errors: [400, 401, 403, 404, 405, 422, 500],
    reserved: [],
  },
];

/** "Events": each kind and the resource that it shows. */
export const events: Record<string, Rule> = {
  'payment-method.created': resources.paymentMethod,
  'payment-method.updated': resources.paymentMethod,
  'transaction.created': resources.transaction,
  'transaction.updated': resources.transaction,
};

export function eventPayload(name: string, target: Rule): Rule {
  return object({
    type: constant('event'),
    id: uuid(),
    name: constant(name),
    created_at: dateTime(),
    merchant_account_id: string(),
    target,
  });
}
