// The tables that every API has, in order: a series of its own beside the migrations of an API. Those of payments contain these, because
// they were released before: test/unit/kit-migrations.test.ts compares them.
import type { Migrations } from '../database/migrate.ts';
import * as schema from './0001-schema.ts';
import * as retries from './0002-retries.ts';
import * as eventsForOne from './0003-events-for-one.ts';
import * as attemptsByTime from './0004-attempts-by-time.ts';
import * as allAccounts from './0005-all-accounts.ts';

export const kitMigrations: Migrations['migrations'] = {
  'kit-0001-schema': schema,
  'kit-0002-retries': retries,
  'kit-0003-events-for-one': eventsForOne,
  'kit-0004-attempts-by-time': attemptsByTime,
  'kit-0005-all-accounts': allAccounts,
};
