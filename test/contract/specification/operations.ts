/** "Endpoints" and "Events", one entry for each operation and event. */
import * as resources from './resources.ts';
import { each, nullable, type Fields } from './shape.ts';
import * as values from './values.ts';

export interface Operation {
  id: string;
  /** As `GET /transactions`. */
  endpoint: string;
  /** Any one of these scopes is enough. */
  scopes: string[];
  merchantScope: 'none' | 'one' | 'many';
  rateLimit?: { scope: string; limit: number; window_seconds: number };
  /** Query parameters and, for what writes, the `Idempotency-Key`; all of them may be left out. */
  parameters?: Fields;
  body?: Fields;
  success: number;
  answer: Fields;
  errors: number[];
  /** Statuses that the specification lists and that can never happen here. */
  reserved?: number[];
}

const page = (largest: number): Fields => ({
  ...nullable('cursor', 'string ..1000'),
  limit: `integer 1..${largest}`,
});

const idempotencyKey = { 'Idempotency-Key': 'string 1..255' };

const transactionFilters: Fields = {
  ...page(500),
  // `buyer_id` is a plain string: a value that is no uuid matches nothing.
  ...each('buyer_id buyer_external_identifier external_identifier search reconciliation_id', 'string 1..200'),
  ...each('payment_method_label payment_method_bin payment_service_transaction_id', 'string 1..200'),
  ...each('amount_eq amount_gte amount_lte', 'integer 0..9007199254740991'),
  ...each('id checkout_session_id gift_card_id payment_method_id', 'uuid'),
  ...each('created_at_gte created_at_lte updated_at_gte updated_at_lte', 'date-time'),
  ...each('has_gift_card_redemptions has_refunds has_settlements pending_review', 'boolean'),
  ...each('is_subsequent_payment merchant_initiated', 'boolean'),
  gift_card_last4: 'string 4..4',
  currency: ['string'],
  metadata: ['string 1..2000'],
  payment_service_id: ['uuid'],
  method: [values.methods],
  status: [values.transactionStatuses],
  payment_source: [values.paymentSources],
};

export const operations: Operation[] = [
  {
    id: 'listApiKeyPairs',
    endpoint: 'GET /api-key-pairs',
    scopes: ['api-key-pairs.read'],
    merchantScope: 'none',
    parameters: page(100),
    success: 200,
    answer: resources.collection(resources.apiKeyPair, 100),
    errors: [400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 502, 504],
    reserved: [404, 409, 425, 429, 502],
  },
  {
    id: 'checkGiftCardBalances',
    endpoint: 'POST /gift-cards/balances',
    scopes: ['gift-cards.read', 'embed'],
    merchantScope: 'one',
    rateLimit: { scope: 'embed', limit: 50, window_seconds: 60 },
    body: resources.balanceRequest,
    success: 200,
    answer: { items: [resources.giftCardBalance] },
    errors: [400, 401, 403, 404, 405, 425, 429, 500, 502, 504],
  },
  {
    id: 'createPaymentMethod',
    endpoint: 'POST /payment-methods',
    scopes: ['payment-methods.write'],
    merchantScope: 'one',
    parameters: idempotencyKey,
    body: resources.paymentMethodRequest,
    success: 201,
    answer: resources.paymentMethod,
    errors: [400, 401, 403, 404, 405, 409, 422, 425, 500, 504],
  },
  {
    id: 'listTransactions',
    endpoint: 'GET /transactions',
    scopes: ['transactions.read'],
    merchantScope: 'many',
    parameters: transactionFilters,
    success: 200,
    answer: resources.collection(resources.transaction, 500),
    errors: [400, 401, 403, 404, 405, 422, 500, 504],
  },
  {
    id: 'listCardSchemeDefinitions',
    endpoint: 'GET /card-scheme-definitions',
    scopes: ['card-scheme-definitions.read'],
    merchantScope: 'none',
    success: 200,
    answer: { items: [resources.cardSchemeDefinition] },
    errors: [400, 401, 403, 405, 500, 504],
  },
  {
    id: 'createWebhookSubscription',
    endpoint: 'POST /webhook-subscriptions',
    scopes: ['webhook-subscriptions.write'],
    merchantScope: 'many',
    parameters: idempotencyKey,
    body: resources.subscriptionRequest,
    success: 201,
    answer: resources.webhookSubscription,
    errors: [400, 401, 403, 404, 405, 422, 425, 500, 504],
  },
  {
    id: 'listWebhookSubscriptions',
    endpoint: 'GET /webhook-subscriptions',
    scopes: ['webhook-subscriptions.read'],
    merchantScope: 'many',
    parameters: page(100),
    success: 200,
    answer: resources.collection(resources.webhookSubscription, 100),
    errors: [400, 401, 403, 404, 405, 422, 500, 504],
  },
];

/** "Events": each kind with its payload. */
const event = (name: string, target: Fields): [string, Fields] => [
  name,
  {
    type: 'event',
    id: 'uuid',
    name,
    created_at: 'date-time',
    merchant_account_id: 'string',
    target,
  },
];

export const events = [
  event('payment-method.created', resources.paymentMethod),
  event('payment-method.updated', resources.paymentMethod),
  event('transaction.created', resources.transaction),
  event('transaction.updated', resources.transaction),
];
