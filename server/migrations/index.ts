// Written by `npm run generate`: every migration, in order. Do not edit.
import type { Kysely } from 'kysely';
import * as schema from './0001-schema.ts';
import * as retries from './0002-retries.ts';
import * as numberBuckets from './0003-number-buckets.ts';
import * as eventsForOne from './0004-events-for-one.ts';
import * as updatedAfterCreated from './0005-updated-after-created.ts';
import * as attemptsByTime from './0006-attempts-by-time.ts';
import * as cardsInProcessing from './0007-cards-in-processing.ts';
import * as allAccounts from './0008-all-accounts.ts';

export const migrations: Record<string, { up: (db: Kysely<unknown>) => Promise<void> }> = {
  '0001-schema': schema,
  '0002-retries': retries,
  '0003-number-buckets': numberBuckets,
  '0004-events-for-one': eventsForOne,
  '0005-updated-after-created': updatedAfterCreated,
  '0006-attempts-by-time': attemptsByTime,
  '0007-cards-in-processing': cardsInProcessing,
  '0008-all-accounts': allAccounts,
};

/** Of their files, and of the files in a folder of that name. A database records them, and 1.0.0 and 1.1.0 refuse others than theirs. */
export const digests: Record<string, string> = {
  '0001-schema': 'b65d33e1ff97',
  '0002-retries': '4607cb08ad26',
  '0003-number-buckets': '2d88ff673cea',
  '0004-events-for-one': '8a42265df981',
  '0005-updated-after-created': '195340ff025b',
  '0006-attempts-by-time': '52d6ef5c14e7',
  '0007-cards-in-processing': 'eb2c13687ec7',
  '0008-all-accounts': '677d5c919e56',
};
