// The transactions table, as Kysely types.
import type { Generated } from 'kysely';

export interface TransactionsTable {
  id: Generated<string>;
}
