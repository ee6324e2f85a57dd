// Keeps the answers to requests with an Idempotency-Key in the database, sealed: an answer may have a secret in it.
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../client/json.ts';
import { keepKeyMilliseconds, type Keyed, type KeptAnswers, type SentAnswer } from '../domain/idempotency.ts';
import type { Place, Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  releaseIdempotencyKey,
  settleIdempotencyKey,
  type Claimed,
} from '../store/idempotency-keys.ts';
import { findSealer } from '../store/sealing.ts';
import { inWork, type Work } from './unit-of-work.ts';

interface Deps {
  db: Db;
  vault: Vault;
  now: () => Date;
}

// The slot stands for the merchant account, the key pair and the key.
export const placeOfAnswer = ({ slot, id }: { slot: string; id: string }): Place => ({
  purpose: 'answer',
  owner: slot,
  id,
});

export function createKeptAnswers({ db, vault, now }: Deps): KeptAnswers<Work> {
  const since = () => new Date(now().getTime() - keepKeyMilliseconds);
  const find = async (keyed: readonly Keyed[]) => {
    const { open } = await findSealer(db, vault);
    for (const one of keyed) {
      const known = await findIdempotencyKey(db, one, since());
      if (!known) continue;
      const { fingerprint, answer_sealed: sealed } = known;
      const answer =
        sealed === null ? undefined : (parseJson(open(sealed, placeOfAnswer(known))) as SentAnswer);
      return { fingerprint, answer };
    }
    return undefined;
  };
  return {
    find,
    async claim(keyed) {
      for (;;) {
        const known = await find(keyed);
        if (known) return { known };
        const keys = await claimAll(keyed);
        if (keys) return { claim: claimOf(keys) };
      }
    },
  };

  /** Undefined when another request has one of the slots. */
  async function claimAll(keyed: readonly Keyed[]): Promise<Claimed[] | undefined> {
    const claim = randomUUID();
    const keys: Claimed[] = [];
    for (const one of keyed) {
      const made = await claimIdempotencyKey(db, { ...one, claim, now: now(), since: since() });
      if (!made) {
        for (const key of keys) await releaseIdempotencyKey(db, key);
        return undefined;
      }
      keys.push(made);
    }
    return keys;
  }

  function claimOf(keys: readonly Claimed[]) {
    const settle = async (work: Work, answer: SentAnswer) => {
      // Sealed inside the transaction, because a rotation of the key waits for transactions.
      const { seal } = await findSealer(work.db, vault);
      for (const key of keys) {
        const isOurs = await settleIdempotencyKey(
          work.db,
          key,
          seal(JSON.stringify(answer), placeOfAnswer(key)),
        );
        if (!isOurs) throw new Error('the claim of the Idempotency-Key has lapsed');
      }
    };
    return {
      keep: (answer: SentAnswer, work?: Work) =>
        work ? settle(work, answer) : inWork(db, (own) => settle(own, answer)),
      release: async () => {
        for (const key of keys) await releaseIdempotencyKey(db, key);
      },
    };
  }
}
