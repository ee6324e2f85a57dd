// The merchant account is the first part of the primary keys of what belongs to one, and of the foreign keys between them:
// see docs/decisions/0018-account-first.md. IDs stay unique over all accounts.
import { sql, type Kysely } from 'kysely';
import { briefly, buildIndex, type Online } from '../online.ts';

const tables = ['buyers', 'payment_methods', 'gift_cards', 'transactions'];

export async function online(steps: Online): Promise<void> {
  for (const table of tables) {
    if (await isAccountFirst(steps.db, table)) continue;
    const [key, id] = [`${table}_account_first`, `${table}_id_key`];
    await buildIndex(steps, { name: key, table, isUnique: true, on: '(merchant_account_id, id)' });
    await buildIndex(steps, { name: id, table, isUnique: true, on: '(id)' });
    // The foreign key of cards uses the primary key of buyers, which is about to be dropped.
    if (table === 'buyers') await replaceForeignKey(steps);
    await briefly(steps, `the primary key of ${table}`, async (tx) => {
      await sql
        .raw(
          `alter table ${table} drop constraint ${table}_pkey,
             add constraint ${table}_pkey primary key using index ${key},
             add constraint ${id} unique using index ${id}`,
        )
        .execute(tx);
    });
  }
}

async function isAccountFirst(db: Kysely<unknown>, table: string): Promise<boolean> {
  const { rows } = await sql<{ definition: string }>`
    select pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid = to_regclass(${table}) and contype = 'p'`.execute(db);
  return rows[0]?.definition === 'PRIMARY KEY (merchant_account_id, id)';
}

async function replaceForeignKey(steps: Online): Promise<void> {
  await briefly(steps, 'the foreign key of cards', async (tx) => {
    await sql`alter table payment_methods drop constraint if exists payment_methods_buyer`.execute(tx);
    await sql`
      alter table payment_methods add constraint payment_methods_buyer
        foreign key (merchant_account_id, buyer_id) references buyers (merchant_account_id, id) not valid`.execute(
      tx,
    );
  });
  steps.progress('checking the buyers of cards');
  // Reads the whole table, without a lock that others wait for.
  await sql`alter table payment_methods validate constraint payment_methods_buyer`.execute(steps.db);
  await briefly(steps, 'the old foreign key of cards', async (tx) => {
    await sql`alter table payment_methods drop constraint if exists payment_methods_buyer_id_fkey`.execute(
      tx,
    );
  });
}
