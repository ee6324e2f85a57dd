import type { components } from '../../../generated/types.ts';
import type { Given, MaybeStamp, Shown, ShownColumns } from '../../database/columns.ts';

type Buyer = components['schemas']['Buyer'];

/** A buyer as it is given to queries. Without an ID, the database makes one. */
export interface NewBuyer extends Given<Omit<Buyer, 'type' | 'id' | 'created_at' | 'updated_at'>> {
  id?: string;
}

export const buyerColumns = {
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
