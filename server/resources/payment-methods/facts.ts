import { sql } from 'kysely';
import { plain, type Facts } from '../../kit/maintenance/facts.ts';
import { erased, kept } from '../../kit/rules/erasure.ts';
import { applyExpiredReplacements } from './changes.ts';
import { countProcessing } from './queries.ts';

/** A scrape must not count millions of cards. */
const mostCards = 100_000;

export const paymentMethods = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  // A card whose verifier is down is stored all the same, and the caller gets 201.
  gauges: [
    {
      name: 'cards_processing',
      help: 'Cards in processing',
      read: async (db) => (await countProcessing(db, mostCards)).cards,
    },
    {
      name: 'cards_processing_oldest_seconds',
      help: 'Age of the oldest card in processing',
      read: async (db) => (await countProcessing(db, 1)).seconds,
    },
  ],
  daily: {
    'expired-cards': async ({ db, inUnitOfWork, log }) => {
      const applied = await applyExpiredReplacements(db, inUnitOfWork, (id, err) => {
        const facts = { job: 'expired-cards', payment_method_id: id, err };
        log.error(facts, 'the replacement of a card could not be applied');
      });
      return applied.length;
    },
  },
  checks: {
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
  sealed: {
    // First, because it moves to the other.
    replacement: {
      purpose: 'card-number',
      value: sql`(payment_methods.replacement ->> 'number_sealed')`,
      assignment: sql`replacement = jsonb_set(payment_methods.replacement, '{number_sealed}', to_jsonb(given.fresh))`,
    },
    number_sealed: 'card-number',
  },
  // Also when the card alone is erased: `payments payment-methods erase`.
  erasure: {
    ...kept('id', 'merchant_account_id', 'buyer_id', 'created_at', 'updated_at', 'last_replaced_at'),
    ...kept('last_used_at', 'usage_count', 'cit_last_used_at', 'cit_usage_count'),
    // Many people share these.
    ...kept('country', 'currency', 'scheme', 'card_type', 'card_issuer_name'),
    ...erased('number_sealed', 'bin', 'fingerprint', 'expiration_date', 'external_identifier'),
    ...erased('redirect_url', 'replacement', 'replacement_found_at'),
    has_replacement: () => false,
    // Of a wallet it is the e-mail address of its owner.
    label: 'erased',
    // The state of a card that cannot be used, and whose number is not stored.
    status: () => 'failed',
    // A verifier may quote what it was given.
    verification_error: 'erased',
  },
} as const satisfies Facts<'payment_methods'>;
