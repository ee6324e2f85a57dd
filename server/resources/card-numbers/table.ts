import type { Stamp } from '../../database/columns.ts';

/** Keyed digests, never numbers. */
export interface CardNumbersTable {
  bucket: string;
  number: string;
  seen_at: Stamp;
}

declare module '../../database/tables.ts' {
  interface Tables {
    card_numbers: CardNumbersTable;
  }
}
