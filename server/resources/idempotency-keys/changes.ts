// Keeps the answers to requests with an Idempotency-Key in the database, sealed: an answer may have a secret in it.
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../../client/json.ts';
import type { Db } from '../../database/database.ts';
import { inWork, type Work } from '../../database/unit-of-work.ts';
import { readUuid } from '../../rules/uuid.ts';
import type { Binding, Vault } from '../../secrets/vault.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  releaseIdempotencyKey,
  settleIdempotencyKey,
  type Claimed,
  type Slot,
} from './queries.ts';
import { keepKeyMilliseconds, type Keyed, type KeptAnswers, type SentAnswer } from './rules.ts';

interface Deps {
  vault: Vault;
  now: () => Date;
}

export const bindingOfAnswer = ({ account: owner, slot: id }: Slot): Binding => ({
  purpose: 'answer',
  owner,
  id,
});

/** The ID of the resource in an answer; undefined if it has no body or is a refusal. */
function resourceIdOf({ text }: SentAnswer): string | undefined {
  const { id } = Object(text === '' ? undefined : parseJson(text)) as { id?: unknown };
  return typeof id === 'string' ? readUuid(id) : undefined;
}

export const createKeptAnswers =
  ({ vault, now }: Deps) =>
  (db: Db): KeptAnswers<Work> => {
    const since = () => new Date(now().getTime() - keepKeyMilliseconds);
    const find = async (keyed: Keyed) => {
      const known = await findIdempotencyKey(db, keyed, since());
      if (!known) return undefined;
      const { fingerprint, answer_sealed: sealed, isErased } = known;
      if (sealed === null) return { fingerprint, answer: isErased ? ('erased' as const) : undefined };
      return { fingerprint, answer: parseJson(vault.open(sealed, bindingOfAnswer(keyed))) as SentAnswer };
    };
    return {
      find,
      async claim(keyed) {
        for (;;) {
          const wanted = { ...keyed, claim: randomUUID(), now: now(), since: since() };
          const key = await claimIdempotencyKey(db, wanted);
          if (key) return { claim: claimOf(key) };
          const known = await find(keyed);
          if (known) return { known };
        }
      },
    };

    function claimOf(key: Claimed) {
      const settle = async (unit: Work, answer: SentAnswer) => {
        // Sealed inside the transaction, because a rotation of the key waits for transactions.
        const sealed = vault.seal(JSON.stringify(answer), bindingOfAnswer(key));
        if (!(await settleIdempotencyKey(unit.db, key, sealed, resourceIdOf(answer))))
          throw new Error('the claim of the Idempotency-Key has lapsed');
      };
      return {
        keep: (answer: SentAnswer, unit?: Work) =>
          unit ? settle(unit, answer) : inWork(db, (own) => settle(own, answer)),
        release: async () => {
          await releaseIdempotencyKey(db, key);
        },
      };
    }
  };
