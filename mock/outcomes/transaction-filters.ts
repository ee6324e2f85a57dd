// The filters of GET /transactions, applied to the transactions of the contract's examples. The service has them as SQL in
// server/resources/transactions/filters.ts, which needs a database; test/service/mock/parity.filters.test.ts compares the answers of both.
// If a filter of the contract is in neither `filters` nor `Ignored`, the code does not compile.
import type { components } from '../../generated/types.ts';
import type { Input } from '../../server/kit/contract/handler-types.ts';
import { readUuid, notAfter, notBefore } from '../../server/kit/rules/values.ts';
import type { ApplyFilters } from './list.ts';

type Transaction = components['schemas']['Transaction'];
type Query = Required<Omit<Input<'listTransactions'>['query'], 'cursor' | 'limit'>>;
type Text = string | null | undefined;

/**
 * The service stores what these look for, but no transaction shows it, so the examples cannot answer them. The mock ignores
 * these filters instead of finding nothing, so that a page that uses them has items to show.
 */
type Ignored =
  | 'is_subsequent_payment'
  | 'merchant_initiated'
  | 'metadata'
  | 'payment_service_transaction_id'
  | 'payment_source';

const isSameId = (own: Text, wanted: string): boolean => {
  const id = readUuid(wanted);
  return id !== undefined && typeof own === 'string' && readUuid(own) === id;
};
const isOneOf = (own: Text, wanted: readonly string[]): boolean =>
  typeof own === 'string' && wanted.includes(own);
// The service stores whole milliseconds.
const isNotBefore = (own: string, wanted: string): boolean => notAfter(own) >= notBefore(wanted);
const isNotAfter = (own: string, wanted: string): boolean => notAfter(own) <= notAfter(wanted);

const filters: {
  readonly [Name in Exclude<keyof Query, Ignored>]: (item: Transaction, wanted: Query[Name]) => boolean;
} = {
  id: ({ id }, wanted) => isSameId(id, wanted),
  amount_eq: ({ amount }, wanted) => amount === wanted,
  amount_gte: ({ amount }, wanted) => amount >= wanted,
  amount_lte: ({ amount }, wanted) => amount <= wanted,
  created_at_gte: ({ created_at }, wanted) => isNotBefore(created_at, wanted),
  created_at_lte: ({ created_at }, wanted) => isNotAfter(created_at, wanted),
  updated_at_gte: ({ updated_at }, wanted) => isNotBefore(updated_at, wanted),
  updated_at_lte: ({ updated_at }, wanted) => isNotAfter(updated_at, wanted),
  buyer_id: ({ buyer }, wanted) => isSameId(buyer?.id, wanted),
  buyer_external_identifier: ({ buyer }, wanted) => buyer?.external_identifier === wanted,
  checkout_session_id: ({ checkout_session_id }, wanted) => isSameId(checkout_session_id, wanted),
  currency: ({ currency }, wanted) => isOneOf(currency, wanted),
  external_identifier: ({ external_identifier }, wanted) => external_identifier === wanted,
  gift_card_id: ({ gift_card_redemptions }, wanted) =>
    gift_card_redemptions.some(({ gift_card }) => isSameId(gift_card?.id, wanted)),
  gift_card_last4: ({ gift_card_redemptions }, wanted) =>
    gift_card_redemptions.some(({ gift_card }) => gift_card?.last4 === wanted),
  has_gift_card_redemptions: ({ gift_card_redemptions }, wanted) =>
    gift_card_redemptions.length > 0 === wanted,
  has_refunds: ({ refunded_amount, gift_card_redemptions }, wanted) =>
    [refunded_amount, ...gift_card_redemptions.map((one) => one.refunded_amount)].some(
      (amount) => amount > 0,
    ) === wanted,
  has_settlements: ({ settled, settled_amount }, wanted) => (settled || settled_amount > 0) === wanted,
  method: ({ method }, wanted) => isOneOf(method, wanted),
  payment_method_bin: ({ payment_method }, wanted) => payment_method?.details.bin === wanted,
  payment_method_id: ({ payment_method }, wanted) => isSameId(payment_method?.id, wanted),
  payment_method_label: ({ payment_method }, wanted) => payment_method?.label === wanted,
  payment_service_id: ({ payment_service }, wanted) =>
    wanted.some((one) => isSameId(payment_service?.id, one)),
  pending_review: ({ pending_review }, wanted) => pending_review === wanted,
  reconciliation_id: ({ reconciliation_id }, wanted) => reconciliation_id === wanted,
  // Without the payment service transaction ID, which the examples do not have.
  search: ({ id, external_identifier, buyer }, wanted) =>
    external_identifier === wanted ||
    buyer?.external_identifier === wanted ||
    isSameId(id, wanted) ||
    isSameId(buyer?.id, wanted),
  status: ({ status }, wanted) => isOneOf(status, wanted),
};

const matchers = new Map<string, (item: Transaction, wanted: never) => boolean>(Object.entries(filters));

// Both casts are safe: the contract's examples match their schema, and the query was validated. A filter that the contract
// got by a reload has no entry yet, and is ignored.
export const applyTransactionFilters: ApplyFilters = (items, query) =>
  (items as readonly Transaction[]).filter((item) =>
    Object.entries(query).every(([name, wanted]) => matchers.get(name)?.(item, wanted as never) ?? true),
  );
