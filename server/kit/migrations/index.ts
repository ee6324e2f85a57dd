// The tables that every API has, in order, for one that begins today: its domain.ts lists these before its own. Payments does not, because
// its released migrations make the same tables: test/unit/kit-migrations.test.ts compares them. The names come before all that begin with 0001.
import type { Migrations } from '../database/migrate.ts';
import * as schema from './1-schema.ts';
import * as retries from './2-retries.ts';
import * as eventsForOne from './3-events-for-one.ts';
import * as attemptsByTime from './4-attempts-by-time.ts';
import * as allAccounts from './5-all-accounts.ts';

export const kitMigrations: Migrations['migrations'] = {
  '0000-kit-1-schema': schema,
  '0000-kit-2-retries': retries,
  '0000-kit-3-events-for-one': eventsForOne,
  '0000-kit-4-attempts-by-time': attemptsByTime,
  '0000-kit-5-all-accounts': allAccounts,
};
