// Written by `npm run generate`: every migration, in order. Do not edit.
import type { ServiceMigration } from '../online.ts';
import * as accountsAndKeys from './0001-accounts-and-keys.ts';
import * as buyersAndCards from './0002-buyers-and-cards.ts';
import * as transactions from './0003-transactions.ts';
import * as events from './0004-events.ts';
import * as replays from './0005-replays.ts';
import * as settings from './0006-settings.ts';
import * as replacementFoundAt from './0007-replacement-found-at.ts';
import * as audit from './0008-audit.ts';
import * as idempotencyKeys from './0009-idempotency-keys.ts';
import * as callableAddresses from './0010-callable-addresses.ts';
import * as accountFingerprints from './0011-account-fingerprints.ts';
import * as cardNumbers from './0012-card-numbers.ts';
import * as sealing from './0013-sealing.ts';
import * as erasure from './0014-erasure.ts';
import * as accountFirst from './0015-account-first.ts';
import * as partitionsByTime from './0016-partitions-by-time.ts';
import * as keptAnswers from './0017-kept-answers.ts';
import * as transactionIndexes from './0018-transaction-indexes.ts';
import * as deliveryTurns from './0019-delivery-turns.ts';
import * as updatedEarly from './0020-updated-early.ts';
import * as verificationError from './0021-verification-error.ts';
import * as walk from './0022-walk.ts';

export const migrations: Record<string, ServiceMigration> = {
  '0001-accounts-and-keys': accountsAndKeys,
  '0002-buyers-and-cards': buyersAndCards,
  '0003-transactions': transactions,
  '0004-events': events,
  '0005-replays': replays,
  '0006-settings': settings,
  '0007-replacement-found-at': replacementFoundAt,
  '0008-audit': audit,
  '0009-idempotency-keys': idempotencyKeys,
  '0010-callable-addresses': callableAddresses,
  '0011-account-fingerprints': accountFingerprints,
  '0012-card-numbers': cardNumbers,
  '0013-sealing': sealing,
  '0014-erasure': erasure,
  '0015-account-first': accountFirst,
  '0016-partitions-by-time': partitionsByTime,
  '0017-kept-answers': keptAnswers,
  '0018-transaction-indexes': transactionIndexes,
  '0019-delivery-turns': deliveryTurns,
  '0020-updated-early': updatedEarly,
  '0021-verification-error': verificationError,
  '0022-walk': walk,
};
