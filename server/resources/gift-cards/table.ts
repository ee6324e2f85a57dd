import type { Generated } from 'kysely';
import type { MaybeStamp, Stamp } from '../../kit/database/columns.ts';

export interface GiftCardsTable {
  id: Generated<string>;
  merchant_account_id: string;
  number_sealed: string;
  pin_sealed: string;
  bin: string;
  sub_bin: string;
  last4: string;
  expiration_date: MaybeStamp;
  created_at: Stamp;
}

declare module '../../kit/database/tables.ts' {
  interface Tables {
    gift_cards: GiftCardsTable;
  }
}
