// The types of all tables, for Kysely, but those that only raw SQL uses: `rate_limits` and `applied_migrations`.
import type { DeliveriesTable, DeliveryAttemptsTable, EventsTable } from '../events/table.ts';
import type { ApiKeyPairsTable } from '../resources/api-key-pairs/table.ts';
import type { BuyersTable } from '../resources/buyers/table.ts';
import type { CardNumbersTable } from '../resources/card-numbers/table.ts';
import type { GiftCardsTable } from '../resources/gift-cards/table.ts';
import type { IdempotencyKeysTable } from '../resources/idempotency-keys/table.ts';
import type { MerchantAccountsTable } from '../resources/merchant-accounts/table.ts';
import type { PaymentMethodsTable } from '../resources/payment-methods/table.ts';
import type { RolesTable } from '../resources/roles/table.ts';
import type { TransactionsTable } from '../resources/transactions/table.ts';
import type { WebhookSubscriptionsTable } from '../resources/webhook-subscriptions/table.ts';
import type { AuditEntriesTable } from '../upkeep/audit-table.ts';

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
