/**
 * Every column that can hold text, and whether it is erased with the buyer; merchant_account_id, which many tables have, needs
 * no line. test/service/erasure-columns.test.ts fails for a column that is not here.
 */

/** Erased with the buyer: test/service/erasure.test.ts gives each a value, and looks that it is gone. */
export const erased = {
  buyers: ['external_identifier', 'display_name', 'account_number', 'billing_details'],
  payment_methods: [
    ...['external_identifier', 'bin', 'expiration_date', 'label', 'fingerprint', 'number_sealed'],
    ...['redirect_url', 'replacement', 'verification_error'],
  ],
  transactions: [
    ...['raw_response_description', 'metadata', 'buyer_external_identifier', 'payment_method_label'],
    ...['payment_method_bin', 'gift_card_last4s'],
  ],
};

/** They hold more than personal data; the tokens tell what is left of them. */
export const erasedInPart = {
  transactions: ['buyer', 'payment_method', 'gift_card_redemptions'],
  events: ['body'],
  idempotency_answers: ['answer_sealed'],
};

export const notOfBuyers: Record<string, string[]> = {
  // What many share, states, and references for the books: see docs/guides/personal-data.md.
  payment_methods: ['status', 'scheme', 'country', 'currency', 'card_type', 'card_issuer_name'],
  transactions: [
    ...['status', 'intent', 'currency', 'country', 'method', 'instrument_type'],
    ...['external_identifier', 'reconciliation_id', 'payment_service_transaction_id', 'raw_response_code'],
    ...['settled_currency', 'payment_service', 'payment_source'],
  ],
  // Keyed digests.
  idempotency_keys: ['slot', 'fingerprint'],
  idempotency_answers: ['slot'],
  rate_limits: ['key'],
  card_numbers: ['bucket', 'number'],
  // Bearer cards: no record says who has one.
  gift_cards: ['number_sealed', 'pin_sealed', 'bin', 'sub_bin', 'last4'],
  // About merchants and operators.
  events: ['name'],
  deliveries: ['state'],
  delivery_attempts: ['error'],
  delivery_turns: ['key'],
  audit_entries: ['operator', 'host', 'command'],
  settings: ['name', 'value'],
  merchant_accounts: ['id', 'display_name', 'key_sealed'],
  roles: ['slug', 'name', 'description', 'permissions', 'assignable_to', 'applies_to'],
  api_key_pairs: [
    ...['thumbprint', 'display_name', 'algorithm', 'public_key', 'creator_name', 'creator_email_address'],
    'creator_thumbprint',
  ],
  webhook_subscriptions: ['url', 'username', 'password_sealed', 'secret_sealed', 'old_secret_sealed'],
  applied_migrations: ['name', 'digest'],
};
