/** Creates records that every API has, for tests, with the actions of the service, without events. */
import { randomUUID, type KeyObject } from 'node:crypto';
import type { Kysely } from 'kysely';
import { createAccount as makeAccount } from '../../server/kit/access/accounts/changes.ts';
import { createKeyPair } from '../../server/kit/access/key-pairs/changes.ts';
import { createRole as makeRole } from '../../server/kit/access/roles/changes.ts';
import { generateKeyPair } from '../../server/kit/access/token.ts';
import type { Db } from '../../server/kit/database/database.ts';
import type { Tables } from '../../server/kit/database/tables.ts';
import { inWork, silently, type InStep, type UnitOfWork } from '../../server/kit/database/unit-of-work.ts';
import { createSubscription } from '../../server/kit/events/subscriptions/changes.ts';
import type { Accounts } from '../../server/kit/rules/accounts.ts';
import type { Made } from '../../server/kit/rules/outcomes.ts';
import type { Vault } from '../../server/kit/secrets/vault.ts';

export const silentWork = <T>(db: Db, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
  inWork(db, (unit) => work(silently(unit, 'sample data')));

export function rowOf<Row>(made: Made<Row>): Row {
  if (made.kind === 'taken') throw new Error('Its ID, or another property of it that is unique, is taken.');
  return made.row;
}

/** For what runs in several transactions, and is audited there. */
export const inStepOf =
  (db: Db): InStep =>
  (work) =>
    inWork(db, (unit) => work({ ...unit, audit: () => Promise.resolve() }));

export const createAccount = async (db: Db, account: Parameters<typeof makeAccount>[1]) =>
  rowOf(await silentWork(db, (unit) => makeAccount(unit, account)));

/** By default active, in the merchant account `default`; nothing listens at its address. `secret` signs its deliveries. */
export const createWebhookSubscription = async (
  { db, secrets: { vault } }: { db: Db; secrets: { vault: Vault } },
  given: Partial<Parameters<typeof createSubscription>[1]> = {},
) => {
  const usual = { merchant_account_id: 'default', url: 'http://127.0.0.1:9/', active: true };
  const subscription = { ...usual, authentication: null, ...given };
  const made = await silentWork(db, (unit) => createSubscription(unit, subscription, vault));
  if (made.kind === 'tooMany') throw new Error(made.reason);
  return { ...made.row, secret: made.secret };
};

/** By default with a name of its own, and without permissions. */
export const createRole = async (db: Db, given: Partial<Parameters<typeof makeRole>[1]> = {}) => {
  const { slug = `role-${randomUUID()}` } = given;
  const role = { name: slug, description: null, permissions: [], ...given, slug };
  return rowOf(await silentWork(db, (unit) => makeRole(unit, role)));
};

/** By default for all merchant accounts, with the role `administrator`, and a key that nobody keeps. */
export const createApiKeyPair = async (
  db: Db,
  given: { name?: string; roles?: readonly string[]; accounts?: Accounts; privateKey?: KeyObject } = {},
) => {
  const { privateKey = generateKeyPair('ECDSA').privateKey } = given;
  const pair = { name: 'Test', roles: ['administrator'], accounts: 'all', ...given, privateKey } as const;
  const made = await silentWork(db, (unit) => createKeyPair(unit, pair));
  if (made.kind !== 'stored') throw new Error(`Not there: ${JSON.stringify(made)}`);
  return made.pair;
};

/** For rows of resources with events, which the service writes with an event only. */
export const writingAnything = (db: Db): Kysely<Tables> => db;
