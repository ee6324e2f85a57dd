// Says which key pairs have access to all accounts. Before, these were the pairs without accounts of their own, so a pair read every
// account once its own were deleted by hand.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Requests wait for the first statement, which waits for a backup or another change of key pairs.
  await sql`set local lock_timeout = '2s'`.execute(db);
  // The default and the trigger are for an older version, which still runs beside this one and does not know the column: what it inserts is for
  // all accounts until an account is added to it.
  await sql`alter table api_key_pairs add column all_accounts boolean not null default true`.execute(db);
  await sql`
    update api_key_pairs set all_accounts = false
    where id in (select api_key_pair_id from api_key_pair_merchant_accounts)`.execute(db);
  // `or replace`: `pg_restore --clean` of an older backup leaves it. For each row: Citus cannot join the new rows of a statement. With
  // its own search path, because a restore of data alone has none. Also when an account is taken away: rows that came without the trigger,
  // from an older version by logical replication or by `pg_restore --disable-triggers`, are beside the default.
  await sql`
    create or replace function limit_to_accounts() returns trigger language plpgsql set search_path from current as $$
    begin
      update api_key_pairs set all_accounts = false
      where id = coalesce(new.api_key_pair_id, old.api_key_pair_id) and all_accounts;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger api_key_pair_has_accounts after insert or delete on api_key_pair_merchant_accounts
    for each row execute function limit_to_accounts()`.execute(db);
}
