// Keeps the answers to requests with an Idempotency-Key in the database, sealed: an answer may have a secret in it.
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../client/json.ts';
import { keepKeyMilliseconds, type Keyed, type KeptAnswers, type SentAnswer } from '../domain/idempotency.ts';
import type { Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  releaseIdempotencyKey,
  settleIdempotencyKey,
  type KnownKey,
} from '../store/idempotency-keys.ts';
import { inWork, type Work } from './unit-of-work.ts';

interface Key {
  id: string;
  claim: string;
}

interface Deps {
  db: Db;
  vault: Vault;
  now: () => Date;
}

export function createKeptAnswers({ db, vault, now }: Deps): KeptAnswers<Work> {
  const since = () => new Date(now().getTime() - keepKeyMilliseconds);
  const open = ({ fingerprint, answer_sealed: sealed }: KnownKey) => ({
    fingerprint,
    answer: sealed === null ? undefined : (parseJson(vault.open(sealed, 'answer')) as SentAnswer),
  });
  const find = async (keyed: readonly Keyed[]) => {
    for (const { slot } of keyed) {
      const known = await findIdempotencyKey(db, slot, since());
      if (known) return open(known);
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
  async function claimAll(keyed: readonly Keyed[]): Promise<Key[] | undefined> {
    const claim = randomUUID();
    const keys: Key[] = [];
    for (const one of keyed) {
      const made = await claimIdempotencyKey(db, { ...one, claim, now: now(), since: since() });
      if (!made) {
        for (const key of keys) await releaseIdempotencyKey(db, key);
        return undefined;
      }
      keys.push({ id: made.id, claim });
    }
    return keys;
  }

  function claimOf(keys: readonly Key[]) {
    const settle = async (work: Work, answer: SentAnswer) => {
      for (const key of keys) {
        // Sealed inside the transaction, because a rotation of the key waits for transactions.
        const isOurs = await settleIdempotencyKey(work.db, key, vault.seal(JSON.stringify(answer), 'answer'));
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
