/** What the operations take: query parameters and request bodies. */
import {
  amount,
  anything,
  arrayOf,
  boolean,
  constant,
  dateTime,
  each,
  eitherObject,
  freeString,
  integer,
  object,
  oneOf,
  optional,
  orNull,
  pageSize,
  perhaps,
  sampled,
  string,
  uuid,
  withDefault,
  type Rule,
} from './notation.ts';
import { methods, paymentSources, transactionStatuses } from './values.ts';

// Without a minLength: an empty value means the first page.
const cursor = orNull(string({ maxLength: 1000 }));
export const page = (largest: number): Record<string, Rule> => ({
  cursor,
  limit: withDefault(pageSize(largest), 20),
});

/**
 * Repeated keys. There is no empty list in a query, so a smallest size of one says nothing new. The largest is a decision
 * of ours (docs/open-points.md): every input is bounded.
 */
const filterBy = (values: Rule, most = 100): Rule =>
  perhaps(arrayOf(values, { maxItems: most }), { minItems: 1 });

/** Exactly four characters, and none of them U+0000. */
const lastFour: Rule = {
  ...string({ minLength: 4, maxLength: 4 }),
  may: { pattern: anything },
  accepts: ['1234', '0000'],
  refuses: ['1\u000034'],
};

/** A JSON object as text. The specification names no largest size; docs/open-points.md does. */
const metadata: Rule = {
  ...string({ maxLength: 2000 }),
  may: { minLength: 1, pattern: anything },
  accepts: ['{"key":"value"}', '{ "a:b": "é 😀 & = + %", "c": "" }'],
};

export const transactionFilters: Record<string, Rule> = {
  cursor,
  limit: withDefault(integer({ minimum: 1, maximum: 500, format: 'int32' }), 20),
  buyer_external_identifier: freeString(),
  buyer_id: freeString(), // a plain string: a value that is no uuid matches nothing
  ...each('amount_eq amount_gte amount_lte', amount),
  checkout_session_id: uuid(),
  ...each('created_at_gte created_at_lte updated_at_gte updated_at_lte', dateTime),
  currency: filterBy(sampled(['USD', 'EUR'], ['', 'US', 'USDX', 'U1D', 'U D', 'US\u0000'])),
  external_identifier: freeString(),
  gift_card_id: uuid(),
  gift_card_last4: lastFour,
  ...each('has_gift_card_redemptions has_refunds has_settlements', boolean),
  id: uuid(),
  metadata: filterBy(metadata, 20),
  method: filterBy(oneOf(methods)),
  payment_method_id: uuid(),
  payment_method_label: freeString(),
  payment_service_id: filterBy(uuid()),
  payment_service_transaction_id: freeString(),
  pending_review: boolean(),
  reconciliation_id: freeString(),
  search: freeString(),
  status: filterBy(oneOf(transactionStatuses)),
  is_subsequent_payment: boolean(),
  merchant_initiated: boolean(),
  payment_method_bin: freeString(),
  payment_source: filterBy(oneOf(paymentSources)),
};

export const balanceRequest = object({
  items: arrayOf(
    eitherObject(
      object({
        number: sampled(
          ['1234567890123456', '1234567890123456789'],
          [
            '123456789012345',
            '12345678901234567890',
            '123456789012345a',
            ' 1234567890123456',
            '1234567890123456\n',
          ],
        ),
        pin: freeString(),
      }),
      object({ id: uuid() }),
    ),
    { minItems: 1, maxItems: 10 },
  ),
});

const webAddress: Rule = {
  ...sampled(
    [
      ...['https://a.example', 'http://a.example/b?c=d#e', `https://a.example/${'x'.repeat(1982)}`],
      ...['https://a.example:65535', 'http://[::1]:80/', 'https://a.example/b@c:d'],
    ],
    [
      ...['ftp://a.example', 'a.example', 'https:/a.example', 'xhttps://a.example', 'javascript:alert(1)'],
      ...[
        'https://',
        'http://?x',
        'https://a:b/',
        'https://a:99999/',
        'https://a:0/',
        'https://b:c@a.example/',
      ],
    ],
    { format: 'uri', maxLength: 2000 },
  ),
  may: { minLength: 1, pattern: anything },
};

export const paymentMethodRequest = perhaps(
  object({
    method: constant('card'),
    number: perhaps(string({ pattern: '^[0-9]{13,19}$' }), { minLength: 13, maxLength: 19 }),
    expiration_date: string({ minLength: 5, maxLength: 5, pattern: '^[0-9]{2}/[0-9]{2}$' }),
    security_code: optional(
      perhaps(orNull(string({ pattern: '^[0-9]{3,4}$' })), { minLength: 3, maxLength: 4 }),
    ),
    external_identifier: optional(orNull(freeString())),
    buyer_id: optional(uuid()),
    buyer_external_identifier: optional(freeString()),
    // The scheme and the length are decisions of ours (docs/open-points.md): a page of the sandbox sends browsers there.
    redirect_url: optional(orNull(webAddress)),
  }),
  { not: anything, dependentSchemas: anything },
);

export const subscriptionRequest = object({
  active: optional(withDefault(boolean(), true)),
  url: webAddress,
  authentication: optional(
    orNull(object({ kind: constant('basic'), username: freeString('/?#'), password: freeString() })),
  ),
});
