// Every migration, in order. Imported, not looked up on disk: a build then cannot lose one.
import type { Migration } from 'kysely';
import * as accountsAndKeys from './0001-accounts-and-keys.ts';

export const migrations: Record<string, Migration> = {
  '0001-accounts-and-keys': accountsAndKeys,
};
