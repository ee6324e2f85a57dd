// What `payments doctor` checks of cards and transactions.
import { sql } from 'kysely';
import type { Invariants } from '../kit/upkeep/doctor.ts';

export const invariants: Invariants = {
  payment_methods: {
    'usage counters of cards match their transactions': (account) => sql`
      select id::text from payment_methods
      left join (
        select payment_method_id, count(*) as total, count(*) filter (where not merchant_initiated) as customer
        from transactions where merchant_account_id = ${account} and payment_method_id is not null group by 1
      ) as used on used.payment_method_id = payment_methods.id
      where merchant_account_id = ${account}
        and (usage_count <> coalesce(used.total, 0) or cit_usage_count <> coalesce(used.customer, 0))`,
    'cards that can be used have a number': (account) => sql`
      select id::text from payment_methods
      where merchant_account_id = ${account} and status = 'succeeded' and number_sealed is null`,
  },
  transactions: {
    // `updated_at_lte` looks for what was created by then. An import of 1.0.0 may contradict that.
    'what filters look for matches the transaction': (account) => sql`
      select id::text from transactions
      where merchant_account_id = ${account}
        and (has_gift_card_redemptions <> (json_array_length(gift_card_redemptions) > 0)
          or has_settlements <> (settled or settled_amount > 0)
          or buyer_external_identifier is distinct from buyer ->> 'external_identifier'
          or payment_method_label is distinct from payment_method ->> 'label'
          or updated_at < created_at)`,
  },
};
