// What of payments is sealed, beside what the kit seals itself: a rotation of the card key, and doctor, go through it.
import { sql } from 'kysely';
import { ownColumns, sealedColumn, type Sealed } from '../kit/secrets/reseal.ts';

const byAccount = { isByAccount: true };

/** A test compares this list with the columns in the database. */
export const sealedColumns: readonly Sealed[] = [
  {
    ...sealedColumn('payment_methods', 'replacement', 'card-number', byAccount),
    value: sql`(payment_methods.replacement ->> 'number_sealed')`,
    assignment: sql`replacement = jsonb_set(payment_methods.replacement, '{number_sealed}', to_jsonb(given.fresh))`,
  },
  sealedColumn('payment_methods', 'number_sealed', 'card-number', byAccount),
  sealedColumn('gift_cards', 'number_sealed', 'gift-card-number', byAccount),
  sealedColumn('gift_cards', 'pin_sealed', 'gift-card-pin', byAccount),
  ...ownColumns,
];
