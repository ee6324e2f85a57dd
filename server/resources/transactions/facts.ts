import { sql } from 'kysely';
import type { components } from '../../../generated/types.ts';
import { plain, type Facts } from '../../kit/maintenance/facts.ts';
import { erased, eraser, kept } from '../../kit/rules/erasure.ts';
import type { NewTransaction } from './table.ts';

type Schemas = components['schemas'];

const eraseBuyer = eraser<Schemas['TransactionBuyer']>({
  ...kept('type', 'id'),
  ...erased('account_number', 'billing_details', 'display_name', 'external_identifier'),
});

export const eraseMethod = eraser<Schemas['TransactionPaymentMethod']>({
  ...kept('type', 'id', 'approval_target', 'country', 'currency', 'last_replaced_at', 'method', 'scheme'),
  // The page of a provider, perhaps with a token for it.
  approval_url: 'erased',
  details: eraser<Schemas['CardDetails']>({ ...kept('card_type', 'card_issuer_name'), bin: 'erased' }),
  ...erased('expiration_date', 'external_identifier', 'fingerprint', 'label', 'payment_account_reference'),
});

const eraseRedemption = eraser<Schemas['GiftCardRedemption']>({
  ...kept('type', 'id', 'status', 'amount', 'refunded_amount', 'gift_card_service_redemption_id'),
  ...kept('error_code', 'raw_error_code'),
  gift_card: eraser<Schemas['RedeemedGiftCard']>({
    ...kept('type', 'id'),
    ...erased('bin', 'sub_bin', 'last4'),
  }),
  raw_error_message: 'erased',
});

export const transactions = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  checks: {
    // `updated_at_lte` looks for what was created by then. An import of 1.0.0 may contradict that.
    'what filters look for matches the transaction': (account) => sql`
      select id::text from transactions
      where merchant_account_id = ${account}
        and (has_gift_card_redemptions <> (json_array_length(gift_card_redemptions) > 0)
          or has_settlements <> (settled or settled_amount > 0)
          or buyer_external_identifier is distinct from buyer ->> 'external_identifier'
          or payment_method_label is distinct from payment_method ->> 'label'
          or updated_at < created_at)`,
  },
  // The columns for filters are worked out from these.
  erasure: {
    ...kept('type', 'id', 'merchant_account_id', 'created_at', 'updated_at', 'checkout_session_id'),
    ...kept('amount', 'authorized_amount', 'captured_amount', 'refunded_amount', 'currency', 'country'),
    ...kept('settled', 'settled_amount', 'settled_currency', 'status', 'pending_review', 'raw_response_code'),
    ...kept('intent', 'method', 'instrument_type', 'payment_source', 'payment_service'),
    ...kept('merchant_initiated', 'is_subsequent_payment'),
    // The merchant's books need references. `--references` erases the first.
    ...kept('external_identifier', 'reconciliation_id', 'payment_service_transaction_id'),
    buyer: eraseBuyer,
    gift_card_redemptions: (all) => all.map(eraseRedemption),
    // Free text of the merchant's, keys and values, so none is left.
    metadata: () => ({}),
    payment_method: eraseMethod,
    raw_response_description: 'erased',
  },
} as const satisfies Facts<'transactions', NewTransaction>;

export const eraseTransaction = eraser<NewTransaction>(transactions.erasure);

/** Properties of a transaction that an erasure may change. */
export const erasableProperties: readonly string[] = [
  ...Object.entries(transactions.erasure).flatMap(([name, rule]) => (rule === 'kept' ? [] : [name])),
  'external_identifier',
];
