// The facts of all tables. Whoever goes through them does so in this order, which doctor prints.
import type { Selectable } from 'kysely';
import type { Tables } from '../kit/database/tables.ts';
import { kitFacts } from '../kit/facts.ts';
import type { Facts } from '../kit/maintenance/facts.ts';
import type { Refused } from '../kit/rules/erasure.ts';
import { sealedColumnsOf } from '../kit/secrets/reseal.ts';
import { buyers } from './buyers/facts.ts';
import { giftCards } from './gift-cards/facts.ts';
import { cardNumbers, numberBuckets } from './number-limits/facts.ts';
import { paymentMethods } from './payment-methods/facts.ts';
import { transactions } from './transactions/facts.ts';
import type { NewTransaction } from './transactions/table.ts';

/** An erasure finds the buyer, rows that name their buyer or a record of it, and no others. */
type Erasure<Name extends keyof Tables, Row = Selectable<Tables[Name]>> = Name extends
  'events' | 'deliveries' | 'delivery_attempts'
  ? 'deleted'
  : Row extends { buyer_id: unknown } | { resource_id: unknown } | { erased_at: unknown }
    ? object | Refused<'its rows name a buyer or a record: say for each column whether it is erased'>
    : 'kept' | Refused<'no erasure finds its rows: they have neither buyer_id nor resource_id'>;

export type FactsOfAll = {
  readonly [Name in keyof Tables]: { erasure: Erasure<Name> } & (Name extends 'transactions'
    ? Facts<Name, NewTransaction>
    : Facts<Name>);
};

export const facts = {
  buyers,
  payment_methods: paymentMethods,
  transactions,
  gift_cards: giftCards,
  number_buckets: numberBuckets,
  card_numbers: cardNumbers,
  ...kitFacts,
} as const satisfies FactsOfAll;

export const sealedColumns = sealedColumnsOf(facts);
