// Keeps the answers to requests with an Idempotency-Key in the database, sealed: an answer may have a secret in it.
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../client/json.ts';
import { keepKeyMilliseconds, type KeptAnswers, type SentAnswer } from '../domain/idempotency.ts';
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
  const find = async (slot: string) => {
    const known = await findIdempotencyKey(db, slot, since());
    return known && open(known);
  };
  return {
    find,
    async claim(slot, fingerprint) {
      for (;;) {
        const known = await find(slot);
        if (known) return { known };
        const claim = randomUUID();
        const made = await claimIdempotencyKey(db, { slot, fingerprint, claim, now: now(), since: since() });
        if (made) return { claim: claimOf({ id: made.id, claim }) };
      }
    },
  };

  function claimOf(key: { id: string; claim: string }) {
    const settle = async (work: Work, answer: SentAnswer) => {
      // Sealed inside the transaction, because a rotation of the key waits for transactions.
      const isOurs = await settleIdempotencyKey(work.db, key, vault.seal(JSON.stringify(answer), 'answer'));
      if (!isOurs) throw new Error('the claim of the Idempotency-Key has lapsed');
    };
    return {
      keep: (answer: SentAnswer, work?: Work) =>
        work ? settle(work, answer) : inWork(db, (own) => settle(own, answer)),
      release: async () => {
        await releaseIdempotencyKey(db, key);
      },
    };
  }
}
