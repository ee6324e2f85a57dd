// Generates any number of plausible transactions. Each depends only on the seed and its index, so the same seed gives the
// same transactions.
import { createHash } from 'node:crypto';
import type { DigestKeys } from '../kit/secrets/derive-keys.ts';
import { describeSimulatedCard } from '../providers/simulated.ts';
import { giftCardBin } from '../resources/gift-cards/rules.ts';
import { binOf, fingerprintOf, lastFour, schemeOf } from '../resources/payment-methods/rules.ts';
import type { NewTransaction } from '../resources/transactions/queries.ts';
import { buyers, cards, giftCards } from './sample-records.ts';

interface SampleOptions {
  seed: number;
  /** The newest transaction is a little older than this. */
  until: Date;
  keys: DigestKeys;
}

const statuses: [status: NewTransaction['status'], weight: number][] = [
  ['capture_succeeded', 55],
  ['authorization_succeeded', 12],
  ['authorization_declined', 10],
  ['authorization_voided', 6],
  ['capture_pending', 5],
  ['authorization_failed', 4],
  ['buyer_approval_pending', 3],
  ['processing', 3],
  ['authorization_void_pending', 2],
];
const currencies = ['USD', 'USD', 'USD', 'EUR', 'EUR', 'GBP', 'JPY', 'IDR'];
const countries: Record<string, string> = { USD: 'US', EUR: 'NL', GBP: 'GB', JPY: 'JP', IDR: 'ID' };
const declines = [
  ['05', 'Do not honor'],
  ['51', 'Insufficient funds'],
  ['54', 'Expired card'],
] as const;
const sources = [
  'ecommerce',
  'ecommerce',
  'ecommerce',
  'recurring',
  'card_on_file',
  'installment',
  'moto',
] as const;
const services = [
  { id: 'fffd152a-9532-4087-9a4f-de58754210f0', display_name: 'Sandbox card processor' },
  { id: '0a1b2c3d-0004-4000-8000-000000000002', display_name: 'Second card processor' },
];

/** A random number generator (mulberry32) whose numbers, from 0 to 1, depend only on the seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const uuidOf = (...parts: (string | number)[]): string => {
  const hex = createHash('sha256').update(parts.join(' ')).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

// The first 300 are of four days, the first thousand of two weeks, later ones are a minute apart: a million fit in two years.
const ageMinutes = (index: number) => (index < 1000 ? index * 19 : 19_000 + (index - 1000));

export function createSamples(account: string, options: SampleOptions): (index: number) => NewTransaction {
  const snapshots = usable.map((card) => snapshotOf(card, options.keys));
  return (index) => sampleTransaction(index, account, options, snapshots);
}

const usable = cards.filter(({ status }) => status === 'succeeded');

/** What is the same in all transactions of a card. */
const snapshotOf = (card: (typeof cards)[number], keys: DigestKeys) => ({
  buyer: buyers[card.buyer],
  payment_method: {
    type: 'payment-method' as const,
    id: card.id,
    approval_target: null,
    approval_url: null,
    country: null,
    currency: null,
    details: { bin: binOf(card.number), ...describeSimulatedCard(card.number) },
    expiration_date: card.expiration_date,
    external_identifier: card.external_identifier,
    label: lastFour(card.number),
    last_replaced_at: null,
    method: 'card' as const,
    payment_account_reference: null,
    scheme: schemeOf(card.number),
    fingerprint: fingerprintOf(keys, card.number),
  },
});

function sampleTransaction(
  index: number,
  account: string,
  { seed, until }: SampleOptions,
  snapshots: readonly ReturnType<typeof snapshotOf>[],
): NewTransaction {
  const random = createRandom(seed * 1_000_003 + index);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const weighted = (): NewTransaction['status'] => {
    let left = random() * statuses.reduce((sum, [, weight]) => sum + weight, 0);
    return (statuses.find(([, weight]) => (left -= weight) < 0) ?? statuses[0])?.[0] ?? 'processing';
  };
  // The first nine transactions have one status each, so that a short list has them all.
  const status = statuses[index]?.[0] ?? weighted();
  // The newest is the first that a reader of the docs sees, and the one that their examples of filters look for.
  const isFirst = index === 0;
  const currency = isFirst ? 'EUR' : pick(currencies);
  const amount = isFirst
    ? 1299
    : Math.floor(random() ** 2 * (currency === 'IDR' ? 2_000_000_000 : 50_000)) + 100;
  const authorized = ![
    'processing',
    'buyer_approval_pending',
    'authorization_failed',
    'authorization_declined',
  ].includes(status);
  const captured = status === 'capture_succeeded';
  const refunded = captured && random() < 0.12 ? Math.floor(amount * random()) : 0;
  const settled = captured && random() < 0.8;
  const created = new Date(until.getTime() - ageMinutes(index) * 60_000 - Math.floor(random() * 60_000));
  const updated = new Date(
    created.getTime() + (captured ? Math.floor(random() * 86_400_000) : Math.floor(random() * 5_000)),
  );
  const { buyer, payment_method } = pick(snapshots);
  const service = pick(services);
  const decline = status === 'authorization_declined' ? pick(declines) : undefined;
  const redemption = captured && random() < 0.1 ? pick(giftCards) : undefined;
  const source = pick(sources);
  return {
    type: 'transaction',
    id: uuidOf('transaction', seed, account, index),
    amount,
    authorized_amount: authorized ? amount : 0,
    captured_amount: captured ? amount : 0,
    refunded_amount: refunded,
    buyer: buyer ? { type: 'buyer', ...buyer } : null,
    checkout_session_id: random() < 0.5 ? uuidOf('session', seed, account, index) : null,
    country: countries[currency] ?? null,
    currency,
    created_at: created.toISOString(),
    updated_at: new Date(Math.min(updated.getTime(), until.getTime())).toISOString(),
    external_identifier: `order-${9001 + index}`,
    gift_card_redemptions: redemption
      ? [
          {
            type: 'gift-card-redemption',
            id: uuidOf('redemption', seed, account, index),
            status: 'succeeded',
            amount: Math.floor(amount / 4),
            refunded_amount: random() < 0.2 ? Math.floor(amount / 8) : 0,
            gift_card_service_redemption_id: `redemption-${index}`,
            error_code: null,
            raw_error_code: null,
            raw_error_message: null,
            gift_card: { type: 'gift-card', id: redemption.id, ...giftCardBin(redemption.number) },
          },
        ]
      : [],
    instrument_type: pick(['pan', 'network_token', 'card_token'] as const),
    intent: random() < 0.7 ? 'authorize' : 'capture',
    merchant_account_id: account,
    method: 'card',
    payment_method,
    payment_service: {
      type: 'payment-service',
      ...service,
      method: 'card',
      payment_service_definition_id: 'sandbox-card',
    },
    pending_review: status === 'authorization_succeeded' && random() < 0.1,
    raw_response_code: decline?.[0] ?? (authorized ? '00' : null),
    raw_response_description: decline?.[1] ?? (authorized ? 'Approved' : null),
    reconciliation_id: createHash('sha256')
      .update(`${seed} ${account} ${index}`)
      .digest('base64url')
      .slice(0, 22),
    status,
    settled,
    settled_amount: settled ? amount : 0,
    settled_currency: settled ? currency : null,
    metadata: {
      seed: String(seed),
      channel: pick(['web', 'app', 'store']),
      campaign: `c${Math.floor(random() * 20)}`,
    },
    payment_source: source,
    merchant_initiated: source === 'recurring' || source === 'installment',
    is_subsequent_payment: source === 'recurring' && random() < 0.8,
    payment_service_transaction_id: authorized ? `psp-${seed}-${index}` : null,
  };
}
