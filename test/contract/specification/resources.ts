/**
 * "Resources and their fields", table by table, in the order of the specification.
 * Every field is always there unless marked `optional`; null only where `orNull` says so (open points).
 */
import {
  amount,
  anything,
  arrayOf,
  boolean,
  constant,
  count,
  country,
  currency,
  dateTime,
  each,
  integer,
  object,
  oneOf,
  optional,
  orNull,
  pageSize,
  perhaps,
  sampled,
  string,
  eitherOf,
  uri,
  uuid,
  withDefault,
  type Rule,
} from './notation.ts';
import * as values from './values.ts';

const text = (): Rule => orNull(string());
const cursor = (): Rule => orNull(string({ minLength: 1, maxLength: 1000 }));

/** Collection: a page of a list. */
export function collection(items: Rule, largestPage: number): Rule {
  return object({
    items: arrayOf(items),
    limit: withDefault(pageSize(largestPage), 20),
    next_cursor: cursor(),
    previous_cursor: cursor(),
  });
}

/** A list that is not paged. */
export const itemsOnly = (items: Rule): Rule => object({ items: arrayOf(items) });

const creator = object({
  id: uuid(),
  name: string(),
  email_address: orNull(string()),
  thumbprint: orNull(string()),
});

const merchantAccountSummary = object({
  type: constant('merchant-account'),
  id: string(),
  display_name: string(),
  created_at: dateTime(),
  updated_at: dateTime(),
  over_capture_amount: amount(),
  over_capture_percentage: perhaps(orNull(integer()), { minimum: 0 }),
});

const permission = sampled(
  ['transactions.read', 'payment-methods.write', '*.read', '*.write'],
  ['', 'transactions', '.read', 'transactions.', 'transactions.delete', 'transactions.reads'],
);

const role = object({
  type: constant('role'),
  id: uuid(),
  name: string(),
  slug: string(),
  description: text(),
  permissions: object({ allow: arrayOf(permission) }),
  assignable_to: arrayOf(string()),
  applies_to: arrayOf(string()),
  is_standalone_assignable: boolean(),
});

export const apiKeyPair = object({
  type: constant('api-key-pair'),
  id: uuid(),
  thumbprint: string(),
  display_name: string({ minLength: 1, maxLength: 200 }),
  algorithm: oneOf(values.certificateAlgorithms),
  active: boolean(),
  private_key: optional(orNull(string())),
  created_at: dateTime(),
  updated_at: dateTime(),
  last_used_at: orNull(dateTime()),
  creator: orNull(creator),
  merchant_accounts: arrayOf(merchantAccountSummary),
  roles: arrayOf(role),
});

export const giftCardBalance = object({
  type: constant('gift-card'),
  id: orNull(uuid()), // null when the card is not stored
  merchant_account_id: string(),
  bin: text(),
  sub_bin: text(),
  last4: text(),
  expiration_date: orNull(dateTime()),
  balance: orNull(amount()), // null when the look-up failed
  currency: orNull(currency()),
  balance_error_code: optional(oneOf(values.balanceErrorCodes)), // there exactly when the look-up failed
  balance_raw_error_code: optional(text()),
  balance_raw_error_message: optional(text()),
});

const cardDetails = object({
  bin: text(),
  card_type: orNull(oneOf(values.cardTypes)),
  card_issuer_name: text(),
});

const address = object({
  ...each('city postal_code state state_code house_number_or_name line1 line2 organization', text),
  country: orNull(country()),
});

const taxId = object({ value: text(), kind: text() });

const billingDetails = object({
  type: constant('billing-details'),
  ...each('first_name last_name email_address phone_number', text),
  address: orNull(address),
  tax_id: orNull(taxId),
});

const buyer = object({
  type: constant('buyer'),
  id: uuid(),
  billing_details: orNull(billingDetails),
  created_at: dateTime(),
  display_name: text(),
  external_identifier: text(),
  merchant_account_id: string(),
  updated_at: dateTime(),
  account_number: text(),
});

/** What the table Payment method says of each field, wherever a payment method is shown. */
const paymentMethodFields = {
  type: constant('payment-method'),
  id: uuid(),
  additional_schemes: orNull(arrayOf(oneOf(values.schemes))),
  approval_target: orNull(oneOf(values.approvalTargets)),
  approval_url: orNull(uri()),
  buyer: orNull(buyer),
  country: orNull(country()),
  created_at: dateTime(),
  currency: orNull(currency()),
  details: cardDetails,
  expiration_date: orNull(string({ minLength: 5, maxLength: 5, pattern: '^[0-9]{2}/[0-9]{2}$' })),
  external_identifier: text(),
  has_replacement: boolean(),
  label: text(),
  last_replaced_at: orNull(dateTime()),
  merchant_account_id: string(),
  method: oneOf(values.methods),
  mode: oneOf(values.modes),
  scheme: orNull(oneOf(values.schemes)),
  status: oneOf(values.paymentMethodStatuses),
  updated_at: dateTime(),
  fingerprint: text(),
  last_used_at: orNull(dateTime()),
  usage_count: count(),
  cit_last_used_at: orNull(dateTime()),
  cit_usage_count: count(),
};

export const paymentMethod = object(paymentMethodFields);

/** The fields of a table that a subset of it names. */
function subset(fields: Record<string, Rule>, names: readonly string[]): Record<string, Rule> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

const transactionBuyer = object({
  type: constant('buyer'),
  id: uuid(),
  billing_details: orNull(billingDetails),
  display_name: text(),
  external_identifier: text(),
  account_number: text(),
});

const transactionPaymentMethod = object({
  ...subset(paymentMethodFields, [
    ...['type', 'id', 'approval_target', 'approval_url', 'country', 'currency', 'details', 'expiration_date'],
    ...['external_identifier', 'label', 'last_replaced_at', 'method', 'scheme', 'fingerprint'],
  ]),
  payment_account_reference: text(),
});

const paymentService = object({
  type: constant('payment-service'),
  id: string(),
  ...each('display_name method payment_service_definition_id', text),
});

const redeemedGiftCard = object({
  type: constant('gift-card'),
  id: orNull(uuid()), // null when the card is not stored
  ...each('bin sub_bin last4', text),
});

const redemption = object({
  type: constant('gift-card-redemption'),
  id: uuid(),
  status: oneOf(values.redemptionStatuses),
  amount: amount(),
  refunded_amount: amount(),
  ...each('gift_card_service_redemption_id error_code raw_error_code raw_error_message', text),
  gift_card: orNull(redeemedGiftCard),
});

export const transaction = object({
  type: constant('transaction'),
  id: uuid(),
  ...each('amount authorized_amount captured_amount refunded_amount', amount),
  buyer: orNull(transactionBuyer),
  checkout_session_id: orNull(uuid()),
  country: orNull(country()),
  currency: currency(),
  created_at: dateTime(),
  updated_at: dateTime(),
  external_identifier: text(),
  gift_card_redemptions: arrayOf(redemption),
  instrument_type: orNull(oneOf(values.instrumentTypes)),
  intent: oneOf(values.intents),
  merchant_account_id: string(),
  method: orNull(oneOf(values.methods)),
  payment_method: orNull(transactionPaymentMethod),
  payment_service: orNull(paymentService),
  pending_review: boolean(),
  raw_response_code: text(),
  raw_response_description: text(),
  reconciliation_id: text(),
  status: oneOf(values.transactionStatuses),
  settled: boolean(),
  settled_amount: amount(),
  settled_currency: orNull(currency()),
});

export const cardSchemeDefinition = object({
  type: constant('card-scheme-definition'),
  id: eitherOf('string', undefined, values.schemes),
  icon_url: uri(),
  display_name: string(),
});

/** What the caller has sent comes back; the limits that it was sent under may stand here too. */
const asSent = (): Rule => perhaps(string(), { minLength: 1, maxLength: 200, pattern: anything });

export const webhookSubscription = object({
  type: constant('webhook-subscription'),
  id: perhaps(string(), { format: 'uuid' }),
  merchant_account_id: text(),
  active: boolean(),
  url: uri(),
  authentication: orNull(object({ kind: constant('basic'), username: asSent(), password: asSent() })),
  secret: text(),
  rotating: boolean(),
});
