-- Distributes the tables of a database over the servers of a Citus cluster: see docs/scaling.md. Run it once on the
-- coordinator, after the service has migrated the database and while no instance of it runs:
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --single-transaction --file scripts/citus.sql

-- Otherwise the steps below use several connections to a worker, which do not see each other's changes.
set local citus.multi_shard_modify_mode = 'sequential';
set local client_min_messages = 'warning';

-- Citus distributes table after table, and in between a foreign key would connect tables of different kinds.
create temporary table kept_foreign_keys on commit drop as
select conrelid::regclass::text as owner, conname, pg_get_constraintdef(oid) as definition
from pg_constraint
where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace;

do $$
declare
  key record;
begin
  for key in select * from kept_foreign_keys loop
    execute format('alter table %s drop constraint %I', key.owner, key.conname);
  end loop;
end $$;

-- A shard cannot see the rows of others, so Citus refuses what must be unique over all accounts.
alter table buyers drop constraint buyers_id;

-- Referenced by distributed tables, so every server has a copy.
select create_reference_table('merchant_accounts');
select create_reference_table('webhook_subscriptions');

-- What belongs to an account is on one server, so that its statements, joins and foreign keys stay there.
select create_distributed_table('buyers', 'merchant_account_id', colocate_with => 'none');
select create_distributed_table(name, 'merchant_account_id', colocate_with => 'buyers')
from unnest(array[
  'payment_methods', 'gift_cards', 'transactions', 'events', 'deliveries', 'delivery_attempts',
  'fingerprint_progress', 'fingerprint_moves'
]) as name;

do $$
declare
  key record;
begin
  for key in select * from kept_foreign_keys loop
    execute format('alter table %s add constraint %I %s', key.owner, key.conname, key.definition);
  end loop;
end $$;
