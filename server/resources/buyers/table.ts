import type { Selectable } from 'kysely';
import type { components } from '../../../generated/types.ts';
import {
  presentColumns,
  type MaybeStamp,
  type Shown,
  type ShownColumns,
} from '../../kit/database/columns.ts';

type Buyer = components['schemas']['Buyer'];

const buyerColumns = {
  id: 'uuid',
  billing_details: 'jsonb',
  created_at: 'timestamptz',
  display_name: 'text',
  external_identifier: 'text',
  merchant_account_id: 'text',
  updated_at: 'timestamptz',
  account_number: 'text',
} as const satisfies Shown<Buyer, 'type'>;

export interface BuyersTable extends ShownColumns<
  typeof buyerColumns,
  Buyer,
  'id' | 'created_at' | 'updated_at'
> {
  /** Since when the buyer has no personal data, and nothing new can be stored for it. */
  erased_at: MaybeStamp;
}

export type BuyerRow = Selectable<BuyersTable>;

declare module '../../kit/database/tables.ts' {
  interface Tables {
    buyers: BuyersTable;
  }
}

const shown = presentColumns<Buyer>()(buyerColumns);

export const presentBuyer = (buyer: BuyerRow): Buyer => ({ type: 'buyer', ...shown(buyer) });
