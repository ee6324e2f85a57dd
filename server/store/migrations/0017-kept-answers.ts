// The claims of idempotency keys begin with the merchant account, and answers get a table of their own, partitioned by time:
// see docs/decisions/0019-partitions-by-time.md.
import { sql, type Kysely } from 'kysely';
import { briefly, buildIndex, type Online } from '../online.ts';

const table = 'idempotency_keys';

export async function online(migration: Online): Promise<void> {
  // Versions before 1.3 name no account, and their rows cannot tell it. Their answers stay where they are, for a day.
  await briefly(migration, 'the merchant account of idempotency keys', (tx) =>
    run(tx, `alter table ${table} add column if not exists merchant_account_id text not null default ''`),
  );
  if (!(await isKeyedByAccount(migration.db))) {
    await buildIndex(migration, {
      name: `${table}_by_account`,
      table,
      isUnique: true,
      on: '(merchant_account_id, slot)',
    });
    await buildIndex(migration, { name: `${table}_id_key`, table, isUnique: true, on: '(id)' });
    await briefly(migration, 'the primary key of idempotency keys', async (tx) => {
      if (await isKeyedByAccount(tx)) return;
      await run(
        tx,
        `alter table ${table} drop constraint ${table}_pkey,
           add constraint ${table}_pkey primary key using index ${table}_by_account,
           add constraint ${table}_id_key unique using index ${table}_id_key`,
      );
    });
  }
  await briefly(migration, 'kept answers', async (tx) => {
    // `id` and `slot` are those of the key: the answer is bound to them. `claim` tells whose answer it is.
    await run(
      tx,
      `create table if not exists idempotency_answers (
         merchant_account_id text not null,
         id uuid not null,
         slot text not null,
         claim uuid not null,
         answer_sealed text not null,
         created_at timestamptz(3) not null,
         primary key (merchant_account_id, id, created_at)
       ) partition by range (created_at)`,
    );
    await run(
      tx,
      'create table if not exists idempotency_answers_default partition of idempotency_answers default',
    );
  });
}

const run = async (db: Kysely<unknown>, statement: string): Promise<void> => {
  await sql.raw(statement).execute(db);
};

async function isKeyedByAccount(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql`
    select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
    where indrelid = to_regclass(${table}) and indisprimary and attname = 'merchant_account_id'`.execute(db);
  return rows.length > 0;
}
