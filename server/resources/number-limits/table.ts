import type { ColumnType } from 'kysely';
import type { Stamp } from '../../kit/database/columns.ts';

/** Keyed digests, never numbers. */
interface NumberBucketsTable {
  bucket: string;
  /** When each number of the bucket was tried last, in milliseconds. */
  seen: ColumnType<Record<string, number>, string>;
  changed_at: Stamp;
}

declare module '../../kit/database/tables.ts' {
  interface Tables {
    number_buckets: NumberBucketsTable;
    /** Used by version 1.0. Now it is only emptied. */
    card_numbers: { bucket: string; number: string; seen_at: Stamp };
  }
}
