// Every table, as Kysely types.
import type { ApiKeyPairsTable } from './api-key-pairs.ts';
import type { AuditEntriesTable } from './audit-entries.ts';
import type { BuyersTable } from './buyers.ts';
import type { CardNumbersTable } from './card-numbers.ts';
import type { DeliveriesTable, DeliveryAttemptsTable, EventsTable } from './events.ts';
import type { GiftCardsTable } from './gift-cards.ts';
import type { IdempotencyKeysTable } from './idempotency-keys.ts';
import type { MerchantAccountsTable } from './merchant-accounts.ts';
import type { PaymentMethodsTable } from './payment-methods.ts';
import type { RolesTable } from './roles.ts';
import type { TransactionsTable } from './transactions.ts';
import type { WebhookSubscriptionsTable } from './webhook-subscriptions.ts';

export interface Tables {
  audit_entries: AuditEntriesTable;
  settings: { name: string; value: string };
  merchant_accounts: MerchantAccountsTable;
  roles: RolesTable;
  api_key_pairs: ApiKeyPairsTable;
  api_key_pair_roles: { api_key_pair_id: string; role_id: string };
  api_key_pair_merchant_accounts: { api_key_pair_id: string; merchant_account_id: string };
  buyers: BuyersTable;
  payment_methods: PaymentMethodsTable;
  gift_cards: GiftCardsTable;
  transactions: TransactionsTable;
  webhook_subscriptions: WebhookSubscriptionsTable;
  idempotency_keys: IdempotencyKeysTable;
  events: EventsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  card_numbers: CardNumbersTable;
}
