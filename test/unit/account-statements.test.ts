// The check that every statement of the service goes through in tests: see test/support/statements.ts.
import { execFileSync } from 'node:child_process';
import { describe, expect, inject, it } from 'vitest';
import { changing, exceptions } from '../../server/store/across-accounts.ts';
import { createCheck } from '../support/account-statements.ts';

const faultOf = createCheck(inject('accountTables'));

describe('finds nothing in', () => {
  it.each([
    ['another table', `select * from merchant_accounts where id = $1`],
    ['a definition', `alter table buyers add column note text`],
    ['quoted names', `select * from "buyers" where "merchant_account_id" = $1 and "id" = $2 for update`],
    ['several accounts', `select * from buyers where merchant_account_id = any($1::text[])`],
    ['a list of accounts', `select * from buyers where "buyers"."merchant_account_id" in ($1, $2)`],
    ['an alias', `select 1 from buyers as b where b.merchant_account_id = $1`],
    ['a value on the left', `select 1 from buyers where $1 = merchant_account_id`],
    ['a deletion', `delete from gift_cards where merchant_account_id = $1`],
    [
      'an update from records',
      `update transactions set amount = given.amount from json_to_recordset($1) as given (id uuid, amount int)
       where transactions.merchant_account_id = $2 and transactions.id = given.id`,
    ],
    ['an insertion', `insert into buyers (id, merchant_account_id) values ($1, $2) on conflict do nothing`],
    [
      'an insertion with the account in its conflict',
      `insert into fingerprint_progress as known (merchant_account_id, version) values ($1, $2)
       on conflict (merchant_account_id) do update set version = excluded.version`,
    ],
    [
      'a join by the account, of which one side is named',
      `select * from payment_methods join buyers on buyers.merchant_account_id = payment_methods.merchant_account_id
       and buyers.id = buyer_id where payment_methods.merchant_account_id = $1`,
    ],
    [
      'one select per account',
      `select transactions.* from (select found.* from unnest($1::text[]) as account (id) cross join lateral (
         (select transactions.merchant_account_id, transactions.id from transactions
          where transactions.merchant_account_id = account.id limit $2)) as found) as page
       join transactions on transactions.merchant_account_id = page.merchant_account_id and transactions.id = page.id`,
    ],
    ['parentheses', `select 1 from buyers where merchant_account_id = $1 and (id = $2 or erased_at is null)`],
    [
      'parentheses in parentheses',
      `select 1 from buyers where merchant_account_id = $1 and (split_part(display_name, '.', 1) <> $3 or $4)`,
    ],
    ['an exception', `select count(*) from payment_methods /* across accounts: sealed-values */`],
    [
      'an exception that may change rows',
      `delete from deliveries where subscription_id = $1
       /* across accounts: deliveries-of-subscription */`,
    ],
  ])('%s', (_, text) => {
    expect(faultOf(text)).toBeUndefined();
  });
});

describe('finds what is wrong in', () => {
  const missing = (table: string) => `does not name the account of ${table}`;
  it.each([
    ['a look-up by ID', `select * from "buyers" where "id" = $1`, missing('buyers')],
    [
      'a list',
      `select merchant_account_id from transactions order by merchant_account_id`,
      missing('transactions'),
    ],
    [
      'a comparison that names none',
      `select 1 from buyers where merchant_account_id <> $1`,
      missing('buyers'),
    ],
    [
      'a condition of a function',
      `select 1 from buyers where length(merchant_account_id) > 0`,
      missing('buyers'),
    ],
    [
      'a value in a text',
      `select 1 from buyers where display_name = 'merchant_account_id = 1' -- merchant_account_id = $1`,
      missing('buyers'),
    ],
    ['an update', `update gift_cards set bin = $1 where id = $2`, missing('gift_cards')],
    ['a deletion', `delete from gift_cards where id = $1`, missing('gift_cards')],
    [
      'a join without the account',
      `select 1 from payment_methods join buyers on buyers.id = buyer_id where payment_methods.merchant_account_id = $1`,
      missing('buyers'),
    ],
    [
      'a join by the account, of which no side is named',
      `select 1 from payment_methods as a join buyers as b on b.merchant_account_id = a.merchant_account_id`,
      missing('payment_methods'),
    ],
    [
      'a list of tables',
      `select 1 from webhook_subscriptions, buyers where webhook_subscriptions.merchant_account_id = $1`,
      missing('buyers'),
    ],
    ['a partition', `delete from events_20261109 where id = $1`, missing('events_20261109')],
    ['the default partition', `select id from events_default`, missing('events_default')],
    [
      'a deletion by another table',
      `delete from delivery_attempts as attempt using deliveries
       where attempt.merchant_account_id = $1 and delivery_id = deliveries.id`,
      missing('deliveries'),
    ],
    [
      'a select in a condition',
      `select 1 from merchant_accounts where id = $1 and exists (select from buyers where id = $2)`,
      missing('buyers'),
    ],
    [
      'a part of a union',
      `select id from buyers where merchant_account_id = $1 union select id from gift_cards where id = $2`,
      missing('gift_cards'),
    ],
    [
      'a common table expression',
      `with batch as (select id from transactions where merchant_account_id = $1)
       update transactions set amount = 1 from batch where transactions.id = batch.id`,
      missing('transactions'),
    ],
    [
      'an alternative',
      `select 1 from buyers where merchant_account_id = $1 or id = $2`,
      'has a condition with `or` outside of parentheses',
    ],
    [
      'an insertion',
      `insert into buyers (id) values ($1)`,
      'inserts into buyers without merchant_account_id',
    ],
    [
      'a conflict by ID',
      `insert into buyers (id, merchant_account_id) values ($1, $2) on conflict (id) do nothing`,
      'on conflict of buyers without merchant_account_id',
    ],
    [
      'an assignment of the same account',
      `update buyers set display_name = $1, merchant_account_id = $2 where merchant_account_id = $2 and id = $3`,
      'assigns merchant_account_id',
    ],
    [
      'an unknown exception',
      `select 1 from buyers /* across accounts: laziness */`,
      'there is no exception laziness',
    ],
    [
      'an exception with a lock',
      `select 1 from buyers for update /* across accounts: doctor */`,
      'an exception changes or locks rows of several accounts',
    ],
    [
      'an exception that changes rows',
      `update buyers set display_name = '' /* across accounts: doctor */`,
      'an exception changes or locks rows of several accounts',
    ],
  ])('%s', (_, text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });
});

it('every exception is used', () => {
  const code = execFileSync(
    'git',
    ['grep', '-hE', 'acrossAccounts\\(|across accounts: [a-z]', '--', 'server'],
    {
      encoding: 'utf8',
    },
  );
  const used = [...code.matchAll(/(?:acrossAccounts\('|across accounts: )([\w-]+)/g)].map(([, name]) => name);
  expect([...new Set(used)].sort()).toEqual(Object.keys({ ...exceptions, ...changing }).sort());
});
