-- Distributes the tables of a database over the servers of a Citus cluster: see docs/scaling.md. Run it once on the
-- coordinator, after the service has migrated the database and while no instance of it runs:
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file scripts/citus.sql
begin;

-- Otherwise the steps below use several connections to a worker, which do not see each other's changes.
set local citus.multi_shard_modify_mode = 'sequential';
set local client_min_messages = 'warning';

-- What belongs to a merchant account has the account as the first column of its primary key.
create temporary table tables_of_accounts on commit drop as
select indrelid::regclass as id
from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0] join pg_class on pg_class.oid = indrelid
where indisprimary and attname = 'merchant_account_id' and relnamespace = 'public'::regnamespace;

-- Put back at the end: Citus distributes one table after the other, and refuses foreign keys between tables of different kinds.
create temporary table foreign_keys on commit drop as
select conrelid::regclass as id, conname as name, pg_get_constraintdef(oid) as definition
from pg_constraint
where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace;

do $$
declare
  found record;
begin
  for found in select * from foreign_keys loop
    execute format('alter table %s drop constraint %I', found.id, found.name);
  end loop;

  -- Citus refuses what must be unique over all accounts, because a shard does not see the rows of others.
  for found in
    select tables.id, conname as name from tables_of_accounts as tables join pg_constraint on conrelid = tables.id
    where contype = 'u' and not exists (
      select from pg_attribute
      where attrelid = tables.id and attnum = any(conkey) and attname = 'merchant_account_id')
  loop
    execute format('alter table %s drop constraint %I', found.id, found.name);
  end loop;
end $$;

-- Distributed tables refer to these, or are joined with them, so every server has a copy.
select create_reference_table('merchant_accounts');
select create_reference_table('webhook_subscriptions');

-- All rows of an account are on the same server, so its statements, joins and foreign keys stay there.
select create_distributed_table('buyers', 'merchant_account_id', colocate_with => 'none');
select create_distributed_table(id, 'merchant_account_id', colocate_with => 'buyers')
from tables_of_accounts where id <> 'buyers'::regclass;

-- Everything else stays on the coordinator: key pairs, roles, limits, settings and the audit trail.

do $$
declare
  found record;
begin
  for found in select * from foreign_keys loop
    execute format('alter table %s add constraint %I %s', found.id, found.name, found.definition);
  end loop;
end $$;

commit;
