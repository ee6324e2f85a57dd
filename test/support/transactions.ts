/**
 * Random transactions and filters, and an oracle: a second implementation of each filter in plain TypeScript. Values come from
 * small pools, so that filters match; the pools contain values that often cause bugs. A filter with the name of a property
 * needs no line here: its meaning and its values come from the contract.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { TransactionFilters } from '../../server/resources/transactions/filters.ts';
import type { NewTransaction, Transaction } from '../../server/resources/transactions/queries.ts';
import { document, parametersOf, schemaOf, substance, valid } from './requests.ts';

/** A transaction and its times in milliseconds, because the oracle must not use the parser of the store. */
export interface Case {
  given: NewTransaction;
  created: number;
  updated: number;
}

export interface Filter {
  name: keyof TransactionFilters;
  value: unknown;
  holds: (row: Case) => boolean;
}

const properties = schemaOf(document.components.schemas?.Transaction).properties as Record<string, unknown>;

type Nullable = {
  [Name in keyof Transaction]: null extends Transaction[Name] ? Name : never;
}[keyof Transaction];

/** Every property that may be null, as null: those too that the contract gets tomorrow. */
const nulls = Object.fromEntries(
  Object.entries(properties).flatMap(([name, schema]) => (substance(schema).nullable ? [[name, null]] : [])),
) as Pick<Transaction, Nullable>;

export type FullTransaction = Transaction & NewTransaction;

export const transaction = (given: Partial<NewTransaction> = {}): FullTransaction => {
  const base: FullTransaction = {
    ...nulls,
    type: 'transaction',
    id: randomUUID(),
    amount: 1299,
    authorized_amount: 1299,
    captured_amount: 0,
    refunded_amount: 0,
    currency: 'EUR',
    created_at: '2026-11-15T10:30:00.000Z',
    updated_at: '2026-11-15T10:30:00.000Z',
    gift_card_redemptions: [],
    intent: 'authorize',
    merchant_account_id: 'default',
    pending_review: false,
    status: 'processing',
    settled: false,
    settled_amount: 0,
  };
  return { ...base, ...(given as Partial<FullTransaction>) };
};

type Redemption = NewTransaction['gift_card_redemptions'][number];
type Method = NonNullable<NewTransaction['payment_method']>;

export const redemption = (given: Partial<Redemption> = {}): Redemption => ({
  type: 'gift-card-redemption',
  id: randomUUID(),
  status: 'succeeded',
  amount: 100,
  refunded_amount: 0,
  gift_card_service_redemption_id: null,
  error_code: null,
  raw_error_code: null,
  raw_error_message: null,
  gift_card: null,
  ...given,
});

export const paymentMethod = (given: Partial<Method> = {}): Method => ({
  type: 'payment-method',
  id: randomUUID(),
  approval_target: null,
  approval_url: null,
  country: null,
  currency: null,
  details: { bin: null, card_type: null, card_issuer_name: null },
  expiration_date: null,
  external_identifier: null,
  label: null,
  last_replaced_at: null,
  method: 'card',
  payment_account_reference: null,
  scheme: null,
  fingerprint: null,
  ...given,
});

export const buyer = (given: Partial<NonNullable<NewTransaction['buyer']>> = {}) => ({
  type: 'buyer' as const,
  id: randomUUID(),
  billing_details: null,
  display_name: null,
  external_identifier: null,
  account_number: null,
  ...given,
});

/**
 * Whether JSON.parse takes the key `"` for `\\` once it has read a key that is one backslash, as V8 does since 12.8
 * (https://github.com/nodejs/node/issues/63785). Then no test may give it such a key: whatever it reads later would be wrong.
 * The names are like no others, because what is poisoned are objects that begin alike.
 */
export function mixesUpKeys(): boolean {
  JSON.parse('{"mixes-up-keys":[],"\\\\":0}');
  const read = JSON.parse('{"mixes-up-keys":1,"\\"":2}') as Record<string, unknown>;
  return !('"' in read);
}

const uuids = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'fe26475d-ec3e-4884-9553-f7356683f7f9',
  'ef9496d8-53a5-4aad-8ca2-00eb68334389',
  '92d3f485-e17b-42c6-8d3a-8475b0e1f209',
];

const noUuid = 'no-uuid';

const texts = [
  ...['order-1', 'Order-1', 'order-1 ', ' order-1', '1111', '41111111', '0', '-', 'é', 'e\u0301', 'ß', 'SS'],
  ...[
    "o'brien",
    '"quoted"',
    'back\\slash',
    '\\u0041',
    '\\',
    '%',
    '_',
    '$1',
    ':name',
    'a,b',
    '{a,b}',
    '{}',
    '[]',
  ],
  ...['NULL', 'null', 'true', "'; drop table transactions; --", '/* x */', 'a&b=c', 'a+b', 'a%20b', '#', '?'],
  ...[
    '😀',
    '👨‍👩‍👧',
    '\u202eabc',
    '\ufeff',
    '\ufffd',
    '\uffff',
    '\u{10ffff}',
    '\n',
    '\t',
    '\u0001',
    '\u00a0',
    'İ',
  ],
  ...['x'.repeat(200), `${'x'.repeat(199)}y`, '😀'.repeat(200)],
  ...uuids,
  uuids[2]?.toUpperCase() ?? '',
];
// Can be stored but not filtered by: filters have at most 200 characters.
const long = ['x'.repeat(201), `${'x'.repeat(200)}y`, '😀'.repeat(1500)];

const currencies = ['EUR', 'USD', 'JPY', 'XXX', 'SEK', 'IDR'];
const methods = ['card', 'paypal', 'ideal', 'gift-card', 'pix', 'boleto'] as const;
const sources = ['ecommerce', 'moto', 'recurring', 'installment', 'card_on_file'] as const;
const statuses = [
  ...(['processing', 'buyer_approval_pending', 'authorization_succeeded', 'authorization_failed'] as const),
  ...(['authorization_declined', 'capture_pending', 'capture_succeeded'] as const),
  ...(['authorization_void_pending', 'authorization_voided'] as const),
];
const amounts = [
  0,
  1,
  999,
  1000,
  1001,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  Number.MAX_SAFE_INTEGER - 1,
  Number.MAX_SAFE_INTEGER,
];
const last4s = ['1234', '0000', '12 4', '\'"\\%', '😀😀😀😀', 'null', '{,}"'];
const keys = [
  ...['channel', 'Channel', '', '__proto__', 'constructor', 'a.b', "k'", '"', '$', '😀', '0'],
  ...(mixesUpKeys() ? [] : ['\\']),
];
const values = ['web', 'Web', '', 'null', 'true', '1', '{"a":1}', "v'", '"', '\\', '\\u0000', '😀'];

const day = 86_400_000;
const firstTime = Date.parse('0000-01-01T00:00:00Z');
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');
const midnight = Date.parse('2017-01-01T00:00:00Z');
const times = [firstTime, firstTime + 1, Date.parse('0026-03-01T00:00:00Z'), -1, 0, lastTime - 1, lastTime];
for (const near of [midnight, Date.parse('2026-11-15T10:30:00.123Z')])
  for (const away of [-day, -1000, -1, 0, 1, 999, 1000, 3_600_000]) times.push(near + away);

const from = <T>(pool: readonly T[]) => fc.constantFrom(...pool);
const mostly = <T>(own: readonly T[], pool: readonly T[]) =>
  own.length > 0 ? fc.oneof({ weight: 3, arbitrary: from(own) }, from(pool)) : from(pool);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 3 });
const text = from(texts);
const stored = from([...texts, ...texts, ...long]);
const uuid = from(uuids);
const spelt = (id: string) => fc.constantFrom(id, id, id.toUpperCase());

interface Written {
  text: string;
  milliseconds: number;
  /** Digits beyond milliseconds. */
  beyond: string;
}

/** One instant, written in one of the many ways that RFC 3339 allows. */
const written = (instant: fc.Arbitrary<number>, beyond: readonly string[]): fc.Arbitrary<Written> =>
  fc
    .record({
      milliseconds: instant,
      beyond: from(beyond),
      offset: from([0, 0, 60, -60, 330, 345, -570, 14 * 60, -12 * 60, 23 * 60 + 59, -(23 * 60 + 59)]),
      zulu: from(['Z', 'z', '+00:00', '-00:00']),
      t: from(['T', 't']),
      leap: fc.boolean(),
    })
    .map(({ milliseconds, beyond: more, offset, zulu, t, leap }) => {
      const local = milliseconds + offset * 60_000;
      const shift = local < firstTime || local > lastTime ? 0 : offset;
      // 23:59:60 is stored as the following midnight.
      const isLeap =
        leap && shift === 0 && milliseconds >= firstTime + day && ((milliseconds % day) + day) % day < 1000;
      const iso = new Date(milliseconds + shift * 60_000 - (isLeap ? 1000 : 0)).toISOString();
      const clock = isLeap ? iso.slice(11, 23).replace(':59.', ':60.') : iso.slice(11, 23);
      const minutes = Math.abs(shift);
      const two = (value: number) => String(value).padStart(2, '0');
      const zone = `${shift < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
      const full = `${iso.slice(0, 10)}${t}${clock}${more}`;
      const short = more === '' ? full.replace(/\.000$/, '') : full;
      return { text: `${short}${shift === 0 ? zulu : zone}`, milliseconds, beyond: more };
    });

export const caseOf = (account: string): fc.Arbitrary<Case> =>
  fc.tuple(namedByHand, fc.record(derivedValues())).map(([{ both, ...given }, derived]) => ({
    created: both.created.milliseconds,
    updated: both.updated.milliseconds,
    given: transaction({
      ...given,
      ...(derived as Partial<NewTransaction>),
      merchant_account_id: account,
      created_at: both.created.text,
      updated_at: both.updated.text,
    }),
  }));

const beyonds = ['', '', '4', '999999'];

const namedByHand = fc.record({
  id: fc.uuid(),
  // Nothing is updated before it is created.
  both: fc
    .tuple(written(from(times), beyonds), written(from(times), beyonds))
    .map(([one, other]) =>
      one.milliseconds <= other.milliseconds
        ? { created: one, updated: other }
        : { created: other, updated: one },
    ),
  amount: from(amounts),
  refunded_amount: from([0, 0, 0, 1]),
  settled_amount: from([0, 0, 1]),
  settled: fc.boolean(),
  pending_review: fc.boolean(),
  merchant_initiated: from([true, false, undefined]),
  is_subsequent_payment: from([true, false, null]),
  currency: from(currencies),
  status: from(statuses),
  method: maybe(from(methods)),
  payment_source: maybe(from(sources)),
  external_identifier: maybe(stored),
  reconciliation_id: maybe(stored),
  payment_service_transaction_id: from([undefined, null, ...texts, ...long]),
  checkout_session_id: maybe(uuid.chain(spelt)),
  buyer: maybe(
    fc.record({ id: uuid.chain(spelt), external_identifier: maybe(stored) }).map((given) => buyer(given)),
  ),
  payment_method: maybe(
    fc
      .record({ id: uuid.chain(spelt), label: maybe(stored), bin: maybe(stored) })
      .map(({ bin, ...given }) =>
        paymentMethod({ ...given, details: { bin, card_type: null, card_issuer_name: null } }),
      ),
  ),
  payment_service: maybe(
    from([...uuids, ...uuids, noUuid]).map((id) => ({
      type: 'payment-service' as const,
      id,
      display_name: null,
      method: null,
      payment_service_definition_id: null,
    })),
  ),
  gift_card_redemptions: fc.oneof(
    { weight: 2, arbitrary: fc.constant<Redemption[]>([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc
          .record({
            id: maybe(uuid),
            last4: maybe(from([...last4s, 'novel'.repeat(800)])),
            refunded: from([0, 0, 1]),
          })
          .chain(({ id, last4, refunded }) =>
            maybe(fc.constant({ type: 'gift-card' as const, id, bin: null, sub_bin: null, last4 })).map(
              (gift_card) => redemption({ gift_card, refunded_amount: refunded }),
            ),
          ),
        { minLength: 1, maxLength: 3 },
      ),
    },
  ),
  metadata: fc.oneof(
    from([undefined, null]),
    fc
      .array(fc.tuple(from(keys), from(values)), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
});

// Compared in units of 10^-12 s, so that nothing is rounded.
const fine = (milliseconds: number, beyond = '') =>
  BigInt(milliseconds) * 1_000_000_000n + BigInt(beyond.padEnd(9, '0'));

const sameId = (a: string | null | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();
const giftCards = ({ given }: Case) => given.gift_card_redemptions.map(({ gift_card }) => gift_card);
const askable = (value: string | null | undefined): value is string =>
  typeof value === 'string' && /^[^\0]{1,200}$/u.test(value);

/** For every filter: a value that matches the witness transaction, if possible, or any value of the pool. */
type Maker = (witness: Case) => { value: fc.Arbitrary<unknown>; holds: (row: Case, value: never) => boolean };

const equalText =
  (read: (given: NewTransaction) => string | null | undefined): Maker =>
  ({ given }) => {
    const own = read(given);
    return {
      value: askable(own) ? fc.oneof({ weight: 3, arbitrary: fc.constant(own) }, text) : text,
      holds: (row, value) => read(row.given) === value,
    };
  };

const equalId =
  (read: (given: NewTransaction) => string | null | undefined, others = uuid): Maker =>
  ({ given }) => {
    const own = read(given);
    const value = own ? fc.oneof({ weight: 3, arbitrary: fc.constant(own) }, others) : others;
    return { value: value.chain(spelt), holds: (row, id: string) => sameId(read(row.given), id) };
  };

const oneOf =
  <T extends string>(pool: readonly T[], read: (given: NewTransaction) => T | null | undefined): Maker =>
  ({ given }) => {
    const own = read(given);
    const any = fc.array(from(pool), { minLength: 1, maxLength: 8 });
    return {
      value: own
        ? fc.oneof(
            any,
            fc.shuffledSubarray([...pool]).map((more) => [...more, own]),
          )
        : any,
      holds: (row, wanted: string[]) => {
        const value = read(row.given);
        return value !== null && value !== undefined && wanted.includes(value);
      },
    };
  };

const isTrue =
  (read: (row: Case) => boolean): Maker =>
  (witness) => ({
    value: fc.oneof(fc.constant(read(witness)), fc.boolean()),
    holds: (row, value) => read(row) === value,
  });

const amount =
  (compare: (amount: number, value: number) => boolean): Maker =>
  ({ given }) => ({
    value: fc.oneof(fc.constant(given.amount), from(amounts), fc.maxSafeNat()),
    holds: (row, value) => compare(row.given.amount, value),
  });

const time =
  (read: (row: Case) => number, compare: (row: bigint, value: bigint) => boolean): Maker =>
  (witness) => ({
    value: written(fc.oneof(fc.constant(read(witness)), from(times)), [
      '',
      '',
      '000',
      '0001',
      '5',
      '999999999',
    ]),
    holds: (row, { milliseconds, beyond }: Written) => compare(fine(read(row)), fine(milliseconds, beyond)),
  });

const later = (row: bigint, value: bigint) => row >= value;
const earlier = (row: bigint, value: bigint) => row <= value;

const searched = ({ given }: Case) => [
  given.buyer?.external_identifier,
  given.external_identifier,
  given.payment_service_transaction_id,
];

const makers: Readonly<Partial<Record<keyof TransactionFilters, Maker>>> = {
  buyer_external_identifier: equalText((given) => given.buyer?.external_identifier),
  buyer_id: equalId((given) => given.buyer?.id, fc.oneof(uuid, text)),
  amount_eq: amount((own, value) => own === value),
  amount_gte: amount((own, value) => own >= value),
  amount_lte: amount((own, value) => own <= value),
  checkout_session_id: equalId((given) => given.checkout_session_id),
  created_at_gte: time((row) => row.created, later),
  created_at_lte: time((row) => row.created, earlier),
  updated_at_gte: time((row) => row.updated, later),
  updated_at_lte: time((row) => row.updated, earlier),
  currency: oneOf(currencies, (given) => given.currency),
  external_identifier: equalText((given) => given.external_identifier),
  gift_card_id: (witness) => {
    const own = giftCards(witness).flatMap((card) => card?.id ?? []);
    return {
      value: mostly(own, uuids).chain(spelt),
      holds: (row, id: string) => giftCards(row).some((card) => sameId(card?.id, id)),
    };
  },
  gift_card_last4: (witness) => {
    const own = giftCards(witness).flatMap((card) => (card?.last4?.length === 4 ? card.last4 : []));
    return {
      value: mostly(own, last4s),
      holds: (row, last4) => giftCards(row).some((card) => card?.last4 === last4),
    };
  },
  has_gift_card_redemptions: isTrue(({ given }) => given.gift_card_redemptions.length > 0),
  has_refunds: isTrue(
    ({ given }) =>
      given.refunded_amount > 0 || given.gift_card_redemptions.some((one) => one.refunded_amount > 0),
  ),
  has_settlements: isTrue(({ given }) => given.settled || given.settled_amount > 0),
  id: equalId((given) => given.id),
  metadata: ({ given }) => {
    const own = Object.entries(given.metadata ?? {});
    const pairs = fc.oneof(
      { weight: 3, arbitrary: own.length > 0 ? fc.subarray(own) : fc.constant([]) },
      fc.array(fc.tuple(from(keys), from([...values, '\0', '\ud800'])), { minLength: 1, maxLength: 3 }),
    );
    return {
      value: pairs.map((entries) => new Map(entries)),
      holds: (row, wanted: Map<string, string>) => {
        const has = new Map(Object.entries(row.given.metadata ?? {}));
        return [...wanted].every(([key, value]) => has.get(key) === value);
      },
    };
  },
  method: oneOf(methods, (given) => given.method as (typeof methods)[number] | null),
  payment_method_id: equalId((given) => given.payment_method?.id),
  payment_method_label: equalText((given) => given.payment_method?.label),
  // Stored ones may be no UUIDs; then nothing can ask for them.
  payment_service_id: oneOf(uuids, ({ payment_service: service }) =>
    service?.id === noUuid ? null : service?.id,
  ),
  payment_service_transaction_id: equalText((given) => given.payment_service_transaction_id),
  pending_review: isTrue(({ given }) => given.pending_review),
  reconciliation_id: equalText((given) => given.reconciliation_id),
  search: (witness) => {
    const own = searched(witness).filter(askable);
    const ids = [witness.given.id, ...(witness.given.buyer ? [witness.given.buyer.id] : [])];
    return {
      value: fc.oneof(text, from([...own, ...ids]), from(ids).chain(spelt)),
      holds: (row, value: string) =>
        searched(row).includes(value) || sameId(row.given.id, value) || sameId(row.given.buyer?.id, value),
    };
  },
  status: oneOf(statuses, (given) => given.status),
  is_subsequent_payment: isTrue(({ given }) => given.is_subsequent_payment ?? false),
  merchant_initiated: isTrue(({ given }) => given.merchant_initiated ?? false),
  payment_method_bin: equalText((given) => given.payment_method?.details.bin),
  payment_source: oneOf(sources, (given) => given.payment_source),
};

const filterParameters = parametersOf('listTransactions').filter(
  ({ name }) => name !== 'cursor' && name !== 'limit',
);
export const filterNames = filterParameters.map(({ name }) => name as keyof TransactionFilters);

/** The schema of a filter's value, or of each of its values. */
function valueSchema(name: string): { schema: unknown; several: boolean } {
  const { schema } = substance(filterParameters.find((one) => one.name === name)?.schema);
  return schema.type === 'array' ? { schema: schema.items, several: true } : { schema, several: false };
}

/** Any value that the contract accepts for a filter. */
export const anyValue = (name: string): fc.Arbitrary<unknown> => {
  const { schema, several } = valueSchema(name);
  return several ? fc.array(valid(schema), { minLength: 1, maxLength: 4 }) : valid(schema);
};

/** What a filter means that has no line above: the property of its name has the value, or one of the values. */
function byName(name: string): Maker {
  if (!(name in properties))
    throw new Error(
      `${name} is no property of a transaction: say in test/support/transactions.ts what it means.`,
    );
  const read = ({ given }: Case) => (given as unknown as Record<string, unknown>)[name] ?? null;
  const { several } = valueSchema(name);
  return (witness) => {
    const own = read(witness);
    const any = anyValue(name);
    const same = fc.constant(several ? [own] : own);
    return {
      // Mostly the same: few others are that of any row.
      value: own === null ? any : fc.oneof({ weight: 5, arbitrary: same }, any),
      holds: (row, wanted) => [wanted].flat().includes(read(row) as never),
    };
  };
}

/** Values for the properties that such filters look for. */
function derivedValues(): Record<string, fc.Arbitrary<unknown>> {
  const names = filterNames.filter((name) => !(name in makers) && name in properties);
  return Object.fromEntries(
    names.map((name) => {
      const value = valid(valueSchema(name).schema);
      return [name, substance(properties[name]).nullable ? maybe(value) : value];
    }),
  );
}

/** A filter that usually matches the witness transaction. */
export function filterOf(name: keyof TransactionFilters, witness: Case): fc.Arbitrary<Filter> {
  const { value, holds } = (makers[name] ?? byName(name))(witness);
  return value.map((made) => ({
    name,
    value: isWritten(made) ? made.text : made,
    holds: (row) => holds(row, made as never),
  }));
}

const isWritten = (value: unknown): value is Written =>
  typeof value === 'object' && value !== null && 'beyond' in value;

export const asFilters = (filters: readonly Filter[]): TransactionFilters =>
  Object.fromEntries(filters.map(({ name, value }) => [name, value]));

/** The expected list: newest first, then by ID. */
export const expected = (cases: readonly Case[], filters: readonly Filter[]): string[] =>
  cases
    .filter((row) => filters.every(({ holds }) => holds(row)))
    .sort((a, b) => b.created - a.created || (a.given.id < b.given.id ? 1 : -1))
    .map(({ given }) => given.id);

/**
 * Lets the database generate very many transactions of three accounts (80, 19 and 1 %) or others, one per minute, the newest now or at another end. Each
 * column has common and rare values, and values that only the oldest tenth of the rows has.
 */
export const seedSql = (
  count: number,
  account = `case when n % 100 < 80 then 'default' when n % 100 < 99 then 'marketplace' else 'small' end`,
  end = 'now()',
) => `
  insert into transactions
  select
    gen_random_uuid(),
    ${account},
    date_trunc('milliseconds', ${end}) - n * interval '1 minute',
    date_trunc('milliseconds', ${end}) - (n - n % 1000) * interval '1 minute',
    case when n % 10000 = 7 then 'authorization_void_pending' when n > ${count} * 0.9 then 'authorization_voided'
      when n % 10 = 0 then 'authorization_declined' else 'capture_succeeded' end,
    'capture', n % 5000, n % 5000, n % 5000, case when n % 200 = 1 then 100 else 0 end,
    case when n % 20000 = 9 then 'ISK' when n % 3 = 0 then 'USD' else 'EUR' end,
    'DE',
    case when n % 20000 = 11 then 'pix' when n % 4 = 0 then 'paypal' else 'card' end,
    'pan', 'order-' || n, 'reconciliation-' || n, md5('checkout' || n)::uuid, '00', 'Approved',
    n % 5000 = 3, n > 5000, case when n > 5000 then 100 else 0 end, 'EUR',
    '{"type":"buyer"}', '{"type":"payment-method"}', '{"type":"payment-service"}', '[]',
    jsonb_build_object('channel', case when n % 2 = 0 then 'web' else 'app' end, 'order', n::text),
    case when n % 20000 = 13 then 'moto' else 'ecommerce' end,
    n % 1000 = 5, n % 1000 = 6, 'psp-' || n,
    md5('buyer' || n % 10000)::uuid, case when n % 3 = 0 then 'common' else 'buyer-' || n % 10000 end,
    md5('method' || n % 20000)::uuid, lpad((n % 10000)::text, 4, '0'), lpad((n % 500)::text, 8, '4'),
    md5('service' || n % 5)::uuid,
    case when n % 50 = 2 then array[md5('gift' || n)::uuid] end,
    case when n % 50 = 2 then array[lpad((n / 50 % 10000)::text, 4, '0')] end,
    n % 50 = 2, n % 200 = 1, n > 5000
  from generate_series(1, ${count}) as n`;
