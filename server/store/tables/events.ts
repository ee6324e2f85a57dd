import type { ColumnType, Generated } from 'kysely';
import type { Stamp } from './columns.ts';

export interface EventsTable {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: ColumnType<Date, Date, never>;
}

export interface DeliveriesTable {
  merchant_account_id: string;
  id: Generated<string>;
  event_id: string;
  subscription_id: string;
  state: Generated<'pending' | 'succeeded' | 'failed'>;
  attempts: Generated<number>;
  attempts_before: Generated<number>;
  round: Generated<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface DeliveryAttemptsTable {
  merchant_account_id: string;
  delivery_id: string;
  number: number;
  at: ColumnType<Date, Date, never>;
  status: number | null;
  milliseconds: number;
  error: string | null;
}
