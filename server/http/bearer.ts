// Authenticates the caller by the bearer token. Verifying ES512 takes milliseconds, so verified tokens are cached. Key pairs
// are cached for two seconds only, so a deactivated pair is refused after at most that time.
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import type { Db } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { leewaySeconds, InvalidToken, readKeyId, type Claims } from '../resources/api-key-pairs/claims.ts';
import type { SigningPair } from '../resources/api-key-pairs/queries.ts';
import { tokenDigest, verifyToken } from '../resources/api-key-pairs/token.ts';
import { createCache, createLookUp } from '../rules/cache.ts';
import { trailOf, type Arrived, type Authenticated } from './known.ts';
import type { Passed, Step } from './pipeline.ts';

interface BearerDeps {
  findSigningPair: (db: Db, thumbprint: string) => Promise<SigningPair | undefined>;
  /** Updates `last_used_at` of a pair. */
  recordKeyPairUse: (db: Db, pairId: string) => Promise<void>;
  log: Pick<Logger, 'warn'>;
  now: () => Date;
}

type Pair = SigningPair & { publicKey: KeyObject };

interface Verified extends Claims {
  pairId: string;
  thumbprint: string;
  digest: string;
}

const pairMilliseconds = 2_000;
const touchMilliseconds = 60_000;

type Needs = Pick<Arrived, 'unownedDb'> & Passed<'notEarly'>;

export function createBearer(deps: BearerDeps): Step<Needs, Authenticated> {
  const { findSigningPair, recordKeyPairUse, log, now } = deps;
  const pairOf = createLookUp<Pair>(1_000, pairMilliseconds);
  const tokens = createCache<Verified>(10_000);
  const touched = createCache<true>(1_000);

  const findPair = async (db: Db, thumbprint: string): Promise<Pair | undefined> => {
    const found = await findSigningPair(db, thumbprint);
    return found && { ...found, publicKey: createPublicKey(found.public_key) };
  };

  return async ({ unownedDb }, req, res) => {
    const time = now();
    // What is remembered of a pair does not get younger when somebody sets the clock back.
    const at = performance.now();
    const token = req.headers.authorization?.match(/^Bearer ([^\s]+)$/i)?.[1];
    if (token === undefined) throw new ApiError('unauthorized', { reason: 'no bearer token' });
    try {
      const known = tokens.get(token, time.getTime());
      const thumbprint = known?.thumbprint ?? readKeyId(token);
      const pair = await pairOf(thumbprint, () => findPair(unownedDb, thumbprint));
      if (!pair) throw new InvalidToken('unknown kid');
      if (!pair.active) throw new InvalidToken(`the key pair ${pair.id} is not active`);
      const verified =
        known?.pairId === pair.id
          ? known
          : {
              ...verifyToken(token, pair, time),
              pairId: pair.id,
              thumbprint,
              digest: tokenDigest(token),
            };
      if (verified !== known) tokens.set(token, verified, (verified.exp + leewaySeconds) * 1000);
      if (!touched.get(pair.id, at)) {
        touched.set(pair.id, true, at + touchMilliseconds);
        // A request that only reads can be answered without it.
        await recordKeyPairUse(unownedDb, pair.id).catch((error: unknown) => {
          const { requestId, traceId } = trailOf(res);
          log.warn({ requestId, traceId, keyPair: pair.id, err: error }, 'last_used_at was not written');
        });
      }
      const caller = {
        keyPairId: pair.id,
        scopes: verified.scopes,
        permissions: pair.permissions,
        accounts: pair.accounts,
        tokenDigest: verified.digest,
      };
      return { caller };
    } catch (error) {
      if (error instanceof InvalidToken) throw new ApiError('unauthorized', { reason: error.message });
      throw error;
    }
  };
}
