// What of a resource is personal data of the buyer. Each property has its fate here, so a property that the contract gets
// tomorrow does not compile until somebody has decided. Erased are also parts of card numbers, and free text that may say
// anything. Kept is what the books need: amounts, states, times, references, and what many people share (scheme, issuer).
// See docs/guides/personal-data.md.
import type { components } from '../../generated/types.ts';
import { readUuid } from './uuid.ts';

type Schemas = components['schemas'];

/** `erased` becomes null. Of an object or array, a function keeps a part. */
type Fate<Value> =
  'kept' | (null extends Value ? 'erased' : never) | ((value: NonNullable<Value>) => NonNullable<Value>);
/** Decide for each property: `kept`, or `erased` if it may say something about the buyer. */
type KeptOrErased<Resource> = { readonly [Name in keyof Resource]-?: Fate<Resource[Name]> };

/** In the order of the resource. What has no fate is left out: nobody knows what it says. */
const eraser =
  <Resource extends object>(fates: KeptOrErased<Resource>) =>
  (resource: Resource): Resource => {
    const names = Object.keys(resource).filter((name) => Object.hasOwn(fates, name));
    return Object.fromEntries(
      (names as (keyof Resource)[]).map((name) => [name, valueAfter(fates[name], resource[name])]),
    ) as Resource;
  };

function valueAfter<Value>(fate: Fate<Value>, value: Value): unknown {
  if (value === null || value === undefined || fate === 'kept') return value;
  return typeof fate === 'function' ? fate(value) : null;
}

const buyerFates = {
  type: 'kept',
  id: 'kept',
  billing_details: 'erased',
  display_name: 'erased',
  external_identifier: 'erased',
  account_number: 'erased',
} as const;

const eraseSnapshotBuyer = eraser<Schemas['TransactionBuyer']>(buyerFates);

const eraseBuyer = eraser<Schemas['Buyer']>({
  ...buyerFates,
  created_at: 'kept',
  merchant_account_id: 'kept',
  updated_at: 'kept',
});

const cardFates = {
  type: 'kept',
  id: 'kept',
  approval_target: 'kept',
  // The page of a provider, perhaps with a token for it.
  approval_url: 'erased',
  country: 'kept',
  currency: 'kept',
  details: eraser<Schemas['CardDetails']>({ bin: 'erased', card_type: 'kept', card_issuer_name: 'kept' }),
  expiration_date: 'erased',
  external_identifier: 'erased',
  // Of a wallet it is the e-mail address of its owner.
  label: 'erased',
  last_replaced_at: 'kept',
  method: 'kept',
  scheme: 'kept',
  fingerprint: 'erased',
} as const;

const eraseSnapshotMethod = eraser<Schemas['TransactionPaymentMethod']>({
  ...cardFates,
  payment_account_reference: 'erased',
});

const erasePaymentMethod = eraser<Schemas['PaymentMethod']>({
  ...cardFates,
  additional_schemes: 'kept',
  buyer: eraseBuyer,
  created_at: 'kept',
  has_replacement: 'kept',
  merchant_account_id: 'kept',
  mode: 'kept',
  status: 'kept',
  updated_at: 'kept',
  last_used_at: 'kept',
  usage_count: 'kept',
  cit_last_used_at: 'kept',
  cit_usage_count: 'kept',
});

const eraseRedemption = eraser<Schemas['GiftCardRedemption']>({
  type: 'kept',
  id: 'kept',
  status: 'kept',
  amount: 'kept',
  refunded_amount: 'kept',
  gift_card_service_redemption_id: 'kept',
  error_code: 'kept',
  raw_error_code: 'kept',
  raw_error_message: 'erased',
  gift_card: eraser<Schemas['RedeemedGiftCard']>({
    type: 'kept',
    id: 'kept',
    bin: 'erased',
    sub_bin: 'erased',
    last4: 'erased',
  }),
});

const transactionFates = {
  type: 'kept',
  id: 'kept',
  amount: 'kept',
  authorized_amount: 'kept',
  captured_amount: 'kept',
  refunded_amount: 'kept',
  buyer: eraseSnapshotBuyer,
  checkout_session_id: 'kept',
  country: 'kept',
  currency: 'kept',
  created_at: 'kept',
  updated_at: 'kept',
  // The merchant's books need the number of the order. For one that says something about the buyer, see `references`.
  external_identifier: 'kept',
  gift_card_redemptions: (all: Schemas['GiftCardRedemption'][]) => all.map(eraseRedemption),
  instrument_type: 'kept',
  intent: 'kept',
  merchant_account_id: 'kept',
  method: 'kept',
  payment_method: eraseSnapshotMethod,
  payment_service: 'kept',
  pending_review: 'kept',
  raw_response_code: 'kept',
  raw_response_description: 'erased',
  reconciliation_id: 'kept',
  status: 'kept',
  settled: 'kept',
  settled_amount: 'kept',
  settled_currency: 'kept',
} as const satisfies KeptOrErased<Schemas['Transaction']>;

const eraseWholeTransaction = eraser<Schemas['Transaction']>(transactionFates);

/** Properties of a transaction that an erasure may change. */
export const erasableProperties: readonly string[] = [
  ...Object.entries(transactionFates).flatMap(([name, fate]) => (fate === 'kept' ? [] : name)),
  'external_identifier',
];

/** Whose data is erased. */
export interface Subject {
  id: string;
  /** Undefined when transactions name the buyer and there is no record of it. */
  account: string | undefined;
  externalIdentifier: string | null;
  /** The IDs of the buyer's cards. */
  cards: ReadonlySet<string>;
}

export interface Extent {
  /** Erases the merchant's references of transactions, too. */
  references: boolean;
  /** Buyers that have a record and are not the subject. */
  others: ReadonlySet<string>;
}

/** The API does not show metadata. Its keys and values are free text of the merchant's, so none is left. */
type WithMetadata = Schemas['Transaction'] & { metadata?: Record<string, string> };

/** The same object when there is nothing to erase. */
export function eraseTransaction(
  transaction: WithMetadata,
  subject: Subject,
  { references, others }: Extent,
): WithMetadata {
  const { buyer, payment_method: method, metadata } = transaction;
  const isCard = method !== null && has(subject.cards, method.id);
  if (buyer ? names(buyer, transaction, subject, others) : isCard)
    return {
      ...eraseWholeTransaction(transaction),
      ...(metadata && { metadata: {} }),
      ...(references && { external_identifier: null }),
    };
  // Another buyer paid with a card of the subject.
  return isCard ? { ...transaction, payment_method: eraseSnapshotMethod(method) } : transaction;
}

/** By the ID, or by the merchant's reference: imported transactions may have it with an ID that has no record. */
function names(
  buyer: Schemas['TransactionBuyer'],
  { merchant_account_id }: Schemas['Transaction'],
  { id, account, externalIdentifier }: Subject,
  others: ReadonlySet<string>,
): boolean {
  if (readUuid(buyer.id) === id) return true;
  return (
    merchant_account_id === account &&
    externalIdentifier !== null &&
    buyer.external_identifier === externalIdentifier &&
    !has(others, buyer.id)
  );
}

const has = (ids: ReadonlySet<string>, id: string) => ids.has(readUuid(id) ?? id);

/** What events and kept answers show, if it has personal data. */
type Resource = Schemas['Transaction'] | Schemas['PaymentMethod'];

/** Each returns the same object when there is nothing to erase. */
const erasers: {
  [Type in Resource['type']]: (
    resource: Extract<Resource, { type: Type }>,
    subject: Subject,
    extent: Extent,
  ) => Resource;
} = {
  transaction: eraseTransaction,
  'payment-method': (card, { id, cards }) =>
    cards.has(card.id) || card.buyer?.id === id ? erasePaymentMethod(card) : card,
};

export const eraseResource = (resource: Resource, subject: Subject, extent: Extent): Resource =>
  erasers[resource.type](resource as never, subject, extent);

export const isResource = (value: unknown): value is Resource =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  Object.hasOwn(erasers, value.type);

/** The snapshot of a buyer may be of one that has no record. */
export const buyerIn = (resource: { id: string; buyer?: { id: string } | null }): string | undefined =>
  resource.buyer?.id.toLowerCase();
