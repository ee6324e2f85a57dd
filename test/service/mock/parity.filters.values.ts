/**
 * For every filter of GET /transactions: values that the given items have, and near misses of them. A filter of the contract
 * that has no row here does not compile.
 */
import type { Input } from '../../../generated/operations.ts';
import type { Transaction } from '../../../server/resources/transactions/queries.ts';

export type FilterName = Exclude<keyof Input<'listTransactions'>['query'], 'cursor' | 'limit'>;

/** As in a query; an array is a parameter that is repeated. */
export type Value = string | string[];

type Items = readonly Transaction[];
type Read = (item: Transaction) => readonly (string | null | undefined)[];

const nowhere = '3f0c2f9e-5d4b-4b7e-8a61-0123456789ab';

/** Different values of the items; a few are enough, because each gets many near misses. */
const own = (items: Items, read: Read, count = 4): string[] =>
  [...new Set(items.flatMap(read).filter((value) => typeof value === 'string'))].slice(0, count);

const isText = (value: string) => /^[^\0]{1,200}$/u.test(value);

const similarText = (value: string): string[] => [
  ...[value, value.toUpperCase(), value.toLowerCase(), value.slice(1), value.slice(0, -1), `${value}x`],
  // With and without spaces, as patterns of LIKE, and in another Unicode normalization.
  ...[` ${value}`, `${value} `, value.trim(), '%', `${value.slice(0, -1)}_`, value.normalize('NFD')],
];

const similarId = (id: string): string[] => [
  ...[id, id.toUpperCase(), id.slice(0, 18).toUpperCase() + id.slice(18), id.replace(/.$/, '0')],
  // Spellings of UUIDs that PostgreSQL would accept.
  ...[id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`],
];

const texts =
  (read: Read) =>
  (items: Items): Value[] => [...own(items, read).flatMap(similarText).filter(isText), 'unicorn', 'null'];

const ids =
  (read: Read) =>
  (items: Items): Value[] => [...own(items, read).flatMap(similarId), nowhere];

const flag = (): Value[] => ['true', 'false'];

/** Alone, several, all, in reverse order, repeated, and with a value that no item has. */
const several =
  (read: Read, missing: string) =>
  (items: Items): Value[] => {
    const all = own(items, read, 100);
    const [first = missing, second = missing] = all;
    return [
      ...all.map((one) => [one]),
      ...[all, [...all].reverse(), [second, first], [first, first, second], [missing, first], [missing]],
      // A single value may be in another case.
      ...[[first.toUpperCase()], [first.toLowerCase()]],
    ];
  };

const amounts = (items: Items): Value[] =>
  [...new Set(items.map(({ amount }) => amount))]
    .flatMap((amount) => [amount - 1, amount, amount + 1])
    .filter((amount) => amount >= 0 && amount <= Number.MAX_SAFE_INTEGER)
    .map(String);

const times =
  (read: (item: Transaction) => string) =>
  (items: Items): Value[] => {
    const all = own(items, (item) => [read(item)], 100);
    const some = [all[0], all[1], all.at(-2), all.at(-1)].filter((one) => one !== undefined);
    return some.flatMap((text) => {
      const at = new Date(text.toUpperCase().replace(':60', ':59')).getTime();
      if (Number.isNaN(at)) return [text];
      const isoAt = (time: number) => new Date(time).toISOString();
      const near = [isoAt(at - 1), isoAt(at), isoAt(at + 1), text].filter((iso) => /^\d{4}-/.test(iso));
      const inParis = isoAt(at + 3_600_000).replace('Z', '+01:00');
      return [
        ...near,
        ...[isoAt(at).replace('Z', '0001Z'), isoAt(at).replace('Z', '000Z'), isoAt(at).replace('Z', 'z')],
        ...(/^\d{4}-/.test(inParis) ? [inParis] : []),
      ];
    });
  };

const giftCards = ({ gift_card_redemptions }: Transaction) =>
  gift_card_redemptions.flatMap(({ gift_card }) => gift_card ?? []);

export const values: { readonly [Name in FilterName]: (items: Items) => Value[] } = {
  id: ids(({ id }) => [id]),
  amount_eq: amounts,
  amount_gte: amounts,
  amount_lte: amounts,
  created_at_gte: times(({ created_at }) => created_at),
  created_at_lte: times(({ created_at }) => created_at),
  updated_at_gte: times(({ updated_at }) => updated_at),
  updated_at_lte: times(({ updated_at }) => updated_at),
  buyer_id: (items) => [...ids(({ buyer }) => [buyer?.id])(items), 'buyer-412', 'unicorn'],
  buyer_external_identifier: texts(({ buyer }) => [buyer?.external_identifier]),
  checkout_session_id: ids(({ checkout_session_id }) => [checkout_session_id]),
  currency: several(({ currency }) => [currency], 'ISK'),
  external_identifier: texts(({ external_identifier }) => [external_identifier]),
  gift_card_id: ids((item) => giftCards(item).map(({ id }) => id)),
  gift_card_last4: (items) => [
    ...own(items, (item) => giftCards(item).map(({ last4 }) => last4)),
    ...['0000', '5679', '567', '56789', 'null'],
  ],
  has_gift_card_redemptions: flag,
  has_refunds: flag,
  has_settlements: flag,
  is_subsequent_payment: flag,
  merchant_initiated: flag,
  metadata: () => [
    ['{}'],
    ['{"channel":"web"}'],
    ['{"channel":"web"}', '{"channel":"app"}'],
    ['{"a":1}'],
    [''],
  ],
  method: several(({ method }) => [method], 'pix'),
  payment_method_bin: texts(({ payment_method }) => [payment_method?.details.bin]),
  payment_method_id: ids(({ payment_method }) => [payment_method?.id]),
  payment_method_label: texts(({ payment_method }) => [payment_method?.label]),
  payment_service_id: several(({ payment_service }) => [payment_service?.id], nowhere),
  payment_service_transaction_id: () => ['psp-1', 'null'],
  payment_source: () => [['ecommerce'], ['moto', 'recurring'], ['unicorn']],
  pending_review: flag,
  reconciliation_id: texts(({ reconciliation_id }) => [reconciliation_id]),
  // By each field that it looks at, and by some that it does not.
  search: (items) => [
    ...ids(({ id }) => [id])(items),
    ...ids(({ buyer }) => [buyer?.id])(items),
    ...texts(({ external_identifier }) => [external_identifier])(items),
    ...texts(({ buyer }) => [buyer?.external_identifier])(items),
    ...own(items, ({ reconciliation_id, checkout_session_id, payment_method }) => [
      ...[reconciliation_id, checkout_session_id, payment_method?.id, payment_method?.label],
    ]).filter(isText),
  ],
  status: several(({ status }) => [status], 'unicorn'),
};
