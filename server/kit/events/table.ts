// The tables of events and their deliveries. Nobody imports this file for its tables: the declaration at its end adds them to `Tables`, from
// where every query has them.
import type { ColumnType, Generated } from 'kysely';
import type { Stamp } from '../database/columns.ts';

export interface EventsTable {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: ColumnType<Date, Date, never>;
  /** Whether every active subscription gets it. False also for events from before there was this column. */
  is_for_all: Generated<boolean>;
}

export interface DeliveriesTable {
  merchant_account_id: string;
  id: Generated<string>;
  event_id: string;
  subscription_id: string;
  state: Generated<'pending' | 'succeeded' | 'failed'>;
  attempts: Generated<number>;
  attempts_before: Generated<number>;
  /** When it is tried next. While a worker holds it, when its lease ends. */
  due_at: Stamp;
  leased_by: string | null;
  /** The trace of the request that caused the event. */
  traceparent: string | null;
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
  answer: string | null;
}

declare module '../database/tables.ts' {
  interface Tables {
    events: EventsTable;
    deliveries: DeliveriesTable;
    delivery_attempts: DeliveryAttemptsTable;
  }
}
