// Velocity limits (`x-velocity-limit`) are on storing cards. They are counted when a request is carried
// out: after its Idempotency-Key was claimed, because a repeated answer does not count, and before anything else is looked at,
// because every other answer would tell something about the number. For the same reason another number that comes with a known key is
// counted, too: see docs/decisions/0013.
import { createHash } from 'node:crypto';
import { operations, type Operation } from '../../../generated/operations.ts';
import type { Db } from '../../kit/database/database.ts';
import type { RecordCall } from '../../kit/database/rate-limits.ts';
import { tooMany, type OwnChecks } from '../../kit/http/limits.ts';
import type { DigestKeys } from '../../kit/secrets/derive-keys.ts';
import type { NumberBuckets } from './changes.ts';
import { triedNumber } from './rules.ts';

interface Window {
  limit: number;
  window_seconds: number;
}

/** The lint holds it to this form. */
const limitOf = ({ extensions }: Operation) =>
  extensions['x-velocity-limit'] as { cards: Window; same_bin_and_last_four: Window } | undefined;

const inCode = ({ limit, window_seconds }: Window) => ({ limit, windowSeconds: window_seconds });

type CardsPerMinute = number | 'off' | undefined;

/** `configured` takes precedence over the contract's limit, which is that of production. */
export const cardLimit = (
  configured: CardsPerMinute,
  environment: 'sandbox' | 'production',
  contracts: number,
): number | 'off' => configured ?? (environment === 'production' ? contracts : 'off');

/** How long numbers have to be remembered. */
export const rememberNumbersMilliseconds =
  1000 *
  Math.max(
    0,
    ...Object.values(operations).map((one) => limitOf(one)?.same_bin_and_last_four.window_seconds ?? 0),
  );

interface VelocityDeps {
  recordCall: RecordCall;
  numberBuckets: NumberBuckets;
  keysOf: (db: Db, account: string) => Promise<DigestKeys>;
  cardsPerMinute: CardsPerMinute;
  environment: 'sandbox' | 'production';
}

export function createVelocityLimit(deps: VelocityDeps): OwnChecks {
  const { recordCall, numberBuckets, keysOf, cardsPerMinute, environment } = deps;
  const beforeKnownKey: OwnChecks['beforeKnownKey'] = async (known, isRepeated) => {
    const { db, operation, selection, input } = known;
    const limits = limitOf(operation);
    if (!limits || selection.kind !== 'one') return;
    const { number } = input.body as { number: string };
    const tried = triedNumber(await keysOf(db, selection.id), number);
    const limit = inCode(limits.same_bin_and_last_four);
    const wait = isRepeated
      ? await numberBuckets.find(known, tried, limit)
      : (await numberBuckets.record(known, [tried], limit))[0];
    if (wait !== undefined)
      throw tooMany(wait, 'too many numbers with the same BIN and last four digits in a day');
  };
  const beforeHandler: OwnChecks['beforeHandler'] = async (known) => {
    const { operation, caller, selection } = known;
    const limits = limitOf(operation);
    if (!limits || selection.kind !== 'one') return;
    const { limit: contracts, windowSeconds } = inCode(limits.cards);
    const limit = cardLimit(cardsPerMinute, environment, contracts);
    if (limit !== 'off') {
      // A digest, because the key of a counter has at most 255 characters.
      const owner = createHash('sha256')
        .update(JSON.stringify([caller.keyPairId, selection.id]))
        .digest('base64url');
      const milliseconds = await recordCall(
        known,
        { scope: `cards ${operation.id}`, limit, windowSeconds },
        owner,
      );
      if (milliseconds !== undefined)
        throw tooMany(milliseconds, 'too many cards of one key pair in a minute');
    }
    await beforeKnownKey(known, false);
  };
  return { beforeHandler, beforeKnownKey };
}
