// What the rest of the service may ask of the database: plain functions, bound to a connection or to a transaction.
import { findSigningPair, listApiKeyPairPage, touchApiKeyPair } from './api-key-pairs.ts';
import type { Db } from './database.ts';
import { findAccount, firstAccount } from './merchant-accounts.ts';

type Bound<F> = F extends (db: Db, ...args: infer Args) => infer Result ? (...args: Args) => Result : never;

const functions = { findSigningPair, listApiKeyPairPage, touchApiKeyPair, findAccount, firstAccount };

export type Store = { [Name in keyof typeof functions]: Bound<(typeof functions)[Name]> };

export function createStore(db: Db): Store {
  const bound = Object.entries(functions).map(([name, run]) => [
    name,
    (run as (db: Db, ...args: unknown[]) => unknown).bind(undefined, db),
  ]);
  return Object.fromEntries(bound) as Store;
}
