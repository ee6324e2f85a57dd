// Authenticates the caller by the bearer token. Verifying ES512 takes milliseconds, so verified tokens are cached, and refusals are held
// back. Key pairs are cached for two seconds only, so a deactivated pair is refused after at most that time.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database, Db } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { trailOf, type Arrived, type Authenticated } from '../http/known.ts';
import type { Passed, Step } from '../http/pipeline.ts';
import type { Accounts } from '../rules/accounts.ts';
import { createCache, createLookUp } from '../rules/cache.ts';
import { createHoldBack } from '../rules/closed.ts';
import { InvalidToken, leewaySeconds, readClaims, readKeyId } from './claims.ts';
import { tokenDigest, verifyToken } from './token.ts';

export interface SigningPair {
  id: string;
  algorithm: 'ECDSA' | 'RSA';
  public_key: string;
  /** False, too, if it has access to no account. */
  active: boolean;
  permissions: string[];
  accounts: Accounts;
}

interface BearerDeps {
  findSigningPair: (db: Db, thumbprint: string) => Promise<SigningPair | undefined>;
  recordKeyPairUse: (db: Db, pairId: string) => Promise<void>;
  log: Pick<Logger, 'warn'>;
  now: () => Date;
  dbFor: Database['dbFor'];
}

type Pair = SigningPair & { publicKey: KeyObject };

type Verified = ReturnType<typeof verifyToken> & Record<'pairId' | 'thumbprint' | 'digest', string>;

const pairMilliseconds = 2_000;
const touchMilliseconds = 60_000;
/** Without a check of the signature: a caller whose token has expired may have sent some requests with it, and gets a new one sooner. */
const refusedAtOnce = 10;
/** Who sends tokens that were not verified yet. All of them share a few connections, because every key ID is looked up. */
const stranger = { keyPair: '', account: undefined };

type Needs = Pick<Arrived, 'unownedDb' | 'deadline'> & Passed<'notEarly'>;

export function createBearer(deps: BearerDeps): Step<Needs, Authenticated> {
  const { findSigningPair, recordKeyPairUse, log, now, dbFor } = deps;
  const pairOf = createLookUp<Pair>(1_000, pairMilliseconds);
  const tokens = createCache<Verified>(10_000);
  const touched = createCache<true>(1_000);
  const holdBack = createHoldBack();
  // One check of a signature in a turn of the event loop: if hundreds arrive at once, all other requests would wait for all of them.
  let turn = Promise.resolve();
  const nextTurn = () => (turn = turn.then(() => setImmediate()));

  const findPair = async (db: Db, thumbprint: string): Promise<Pair | undefined> => {
    const found = await findSigningPair(db, thumbprint);
    return found && { ...found, publicKey: createPublicKey(found.public_key) };
  };

  return async ({ unownedDb, deadline }, req, res) => {
    const time = now();
    // What is remembered of a pair does not get younger when somebody sets the clock back.
    const at = performance.now();
    const token = req.headers.authorization?.match(/^Bearer ([^\s]+)$/i)?.[1];
    let pair: Pair | undefined;
    let atOnce = refusedAtOnce;
    try {
      if (token === undefined) throw new InvalidToken('no bearer token');
      let verified = tokens.get(token, time.getTime());
      const thumbprint = verified?.thumbprint ?? readKeyId(token);
      const db = verified ? unownedDb : dbFor({ owner: stranger, deadline });
      // A verified caller does not wait for a look-up of strangers, who may name its key ID.
      pair = await pairOf(thumbprint, () => findPair(db, thumbprint), verified ? '' : 'stranger ');
      if (!pair) throw new InvalidToken('unknown kid');
      if (!pair.active) throw new InvalidToken(`the key pair ${pair.id} is not active`);
      if (verified?.pairId !== pair.id) {
        // Only to refuse it: what is accepted is what `verifyToken` returns.
        readClaims(token, time);
        await nextTurn();
        if (res.closed) throw new InvalidToken('the caller has gone');
        // Another request may have had the same token.
        verified = tokens.get(token, time.getTime());
      }
      if (verified?.pairId !== pair.id) {
        atOnce = 0;
        const claims = verifyToken(token, pair, time);
        verified = { ...claims, pairId: pair.id, thumbprint, digest: tokenDigest(token) };
        tokens.set(token, verified, (verified.exp + leewaySeconds) * 1000);
      }
      const { id, permissions, accounts } = pair;
      if (!touched.get(id, at)) {
        touched.set(id, true, at + touchMilliseconds);
        // A request that only reads can be answered without it.
        await recordKeyPairUse(unownedDb, id).catch((error: unknown) => {
          const { requestId, traceId } = trailOf(res);
          log.warn({ requestId, traceId, keyPair: id, err: error }, 'last_used_at was not written');
        });
      }
      const { scopes, digest } = verified;
      return { caller: { keyPairId: id, scopes, permissions, accounts, tokenDigest: digest } };
    } catch (error) {
      if (!(error instanceof InvalidToken)) throw error;
      // Without a key pair they are held back together: a flood can have another key ID in each token.
      await holdBack(pair?.id ?? stranger.keyPair, atOnce);
      throw new ApiError('unauthorized', { reason: error.message });
    }
  };
}
