import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `version.hex`, made with a key of the merchant account. `fingerprint` is the old form, with one key for all accounts. Only
  // instances of an older version write it, during a rolling upgrade; if it is not null, it is newer than account_fingerprint.
  await sql`alter table payment_methods add column account_fingerprint text`.execute(db);
  await sql`
    create index payment_methods_by_fingerprint on payment_methods (merchant_account_id, account_fingerprint)
    where account_fingerprint is not null`.execute(db);
  await sql`
    create index payment_methods_old_fingerprint on payment_methods (merchant_account_id)
    where fingerprint is not null`.execute(db);
  // How far the rewrite of an account is (actions/fingerprints.ts). Accounts that exist now have fingerprints of the old form.
  await sql`
    create table fingerprint_progress (
      merchant_account_id text primary key references merchant_accounts on delete cascade,
      version text not null,
      phase text not null,
      after text,
      whole boolean not null default true
    )`.execute(db);
  await sql`
    insert into fingerprint_progress (merchant_account_id, version, phase)
    select id, '', 'cards' from merchant_accounts`.execute(db);
  // What old fingerprints became, while the account is rewritten.
  await sql`
    create table fingerprint_moves (
      merchant_account_id text not null references merchant_accounts on delete cascade,
      old text not null,
      fresh text,
      primary key (merchant_account_id, old)
    )`.execute(db);
  await sql`create index fingerprint_moves_by_fresh on fingerprint_moves (merchant_account_id, fresh)`.execute(
    db,
  );
  await sql`create index events_by_account on events (merchant_account_id, id)`.execute(db);
}
