/**
 * "Resources and their fields", table by table, in the order of the specification, and the bodies of requests and errors.
 * `shape.ts` says how they are written. Which fields may be null or left out is decided in the open points.
 */
import { each, nullable, optional, type Fields, type Shape } from './shape.ts';
import * as values from './values.ts';

const amount = 'integer 0..9007199254740991';
const name = 'string 1..200';

/** A page of a list. */
export const collection = (items: Shape, largestPage: number): Fields => ({
  items: [items],
  limit: `integer 1..${largestPage}`,
  ...nullable('next_cursor previous_cursor', 'string 1..1000'),
});

const merchantAccountSummary = {
  type: 'merchant-account',
  ...each('id display_name', 'string'),
  ...each('created_at updated_at', 'date-time'),
  over_capture_amount: amount,
  ...nullable('over_capture_percentage', 'integer'),
};

const role = {
  type: 'role',
  id: 'uuid',
  ...each('name slug', 'string'),
  ...nullable('description'),
  permissions: { allow: ['string'] },
  ...each('assignable_to applies_to', ['string']),
  is_standalone_assignable: 'boolean',
};

export const apiKeyPair = {
  type: 'api-key-pair',
  id: 'uuid',
  thumbprint: 'string',
  display_name: name,
  algorithm: values.certificateAlgorithms,
  active: 'boolean',
  ...optional(nullable('private_key')),
  ...each('created_at updated_at', 'date-time'),
  ...nullable('last_used_at', 'date-time'),
  ...nullable('creator', { id: 'uuid', name: 'string', ...nullable('email_address thumbprint') }),
  merchant_accounts: [merchantAccountSummary],
  roles: [role],
};

export const giftCardBalance = {
  type: 'gift-card',
  ...nullable('id', 'uuid'), // null when the card is not stored
  merchant_account_id: 'string',
  ...nullable('bin sub_bin last4'),
  ...nullable('expiration_date', 'date-time'),
  ...nullable('balance', amount), // null when the look-up failed
  ...nullable('currency'),
  ...optional({ balance_error_code: values.balanceErrorCodes }), // there exactly when the look-up failed
  ...optional(nullable('balance_raw_error_code balance_raw_error_message')),
};

const address = nullable(
  'city country postal_code state state_code house_number_or_name line1 line2 organization',
);

const billingDetails = {
  type: 'billing-details',
  ...nullable('first_name last_name email_address phone_number'),
  ...nullable('address', address),
  ...nullable('tax_id', nullable('value kind')),
};

const transactionBuyer = {
  type: 'buyer',
  id: 'uuid',
  ...nullable('billing_details', billingDetails),
  ...nullable('display_name external_identifier account_number'),
};

const buyer = {
  ...transactionBuyer,
  ...each('created_at updated_at', 'date-time'),
  merchant_account_id: 'string',
};

/** What a transaction shows of its payment method, but for `payment_account_reference`. */
const paymentMethodSummary = {
  type: 'payment-method',
  id: 'uuid',
  ...nullable('approval_target', values.approvalTargets),
  ...nullable('approval_url', 'uri'),
  ...nullable('country currency external_identifier label fingerprint'),
  details: { ...nullable('bin card_issuer_name'), ...nullable('card_type', values.cardTypes) },
  ...nullable('expiration_date', 'string 5..5'),
  ...nullable('last_replaced_at', 'date-time'),
  method: values.methods,
  ...nullable('scheme', values.schemes),
};

export const paymentMethod = {
  ...paymentMethodSummary,
  ...nullable('additional_schemes', [values.schemes]),
  ...nullable('buyer', buyer),
  ...each('created_at updated_at', 'date-time'),
  ...nullable('last_used_at cit_last_used_at', 'date-time'),
  ...each('usage_count cit_usage_count', 'integer 0..'),
  has_replacement: 'boolean',
  merchant_account_id: 'string',
  mode: values.modes,
  status: values.paymentMethodStatuses,
};

const redemption = {
  type: 'gift-card-redemption',
  id: 'uuid',
  status: values.redemptionStatuses,
  ...each('amount refunded_amount', amount),
  ...nullable('gift_card_service_redemption_id error_code raw_error_code raw_error_message'),
  ...nullable('gift_card', {
    type: 'gift-card',
    ...nullable('id', 'uuid'), // null when the card is not stored
    ...nullable('bin sub_bin last4'),
  }),
};

export const transaction = {
  type: 'transaction',
  id: 'uuid',
  ...each('amount authorized_amount captured_amount refunded_amount settled_amount', amount),
  ...nullable('buyer', transactionBuyer),
  ...nullable('checkout_session_id', 'uuid'),
  ...nullable('country external_identifier raw_response_code raw_response_description'),
  ...nullable('reconciliation_id settled_currency'),
  ...each('currency merchant_account_id', 'string'),
  ...each('created_at updated_at', 'date-time'),
  gift_card_redemptions: [redemption],
  ...nullable('instrument_type', values.instrumentTypes),
  intent: values.intents,
  ...nullable('method', values.methods),
  ...nullable('payment_method', { ...paymentMethodSummary, ...nullable('payment_account_reference') }),
  ...nullable('payment_service', {
    type: 'payment-service',
    id: 'string',
    ...nullable('display_name method payment_service_definition_id'),
  }),
  ...each('pending_review settled', 'boolean'),
  status: values.transactionStatuses,
};

export const cardSchemeDefinition = {
  type: 'card-scheme-definition',
  id: values.schemes,
  icon_url: 'uri',
  display_name: 'string',
};

const authentication = { kind: 'basic', ...each('username password', name) };

export const webhookSubscription = {
  type: 'webhook-subscription',
  id: 'uuid',
  ...nullable('merchant_account_id secret'),
  ...each('active rotating', 'boolean'),
  url: 'uri',
  ...nullable('authentication', authentication),
};

export const balanceRequest = { items: [[{ number: 'string', pin: name }, { id: 'uuid' }]] };

export const paymentMethodRequest = {
  method: 'card',
  number: 'string 13..19',
  expiration_date: 'string 5..5',
  ...optional({
    ...nullable('security_code', 'string 3..4'),
    ...nullable('external_identifier', name),
    buyer_id: 'uuid',
    buyer_external_identifier: name,
    ...nullable('redirect_url', 'uri 1..2000'),
  }),
};

export const subscriptionRequest = {
  url: 'uri 1..2000',
  ...optional({ active: 'boolean', ...nullable('authentication', authentication) }),
};

/** "Errors": the body at each status. */
export function errorBody(status: number): Fields {
  const detail = { location: values.errorLocations, ...each('pointer message', 'string') };
  if (status === 422)
    return {
      detail: [
        {
          loc: ['string or integer'],
          ...each('msg type', 'string'),
          ...optional({ input: 'any', ctx: 'object' }),
        },
      ],
    };
  return {
    type: 'error',
    status: 'integer',
    message: 'string',
    details: [detail],
    ...(status === 409 ? nullable('resource_id') : {}),
  };
}
