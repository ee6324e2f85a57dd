// Keeps the answers to requests with an Idempotency-Key in the database, sealed: an answer may have a secret in it.
import { parseJson } from '../../../client/json.ts';
import type { Db } from '../../database/database.ts';
import { inWork, type Work } from '../../database/unit-of-work.ts';
import { readUuid } from '../../rules/values.ts';
import type { Binding, Vault } from '../../secrets/vault.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  releaseIdempotencyKey,
  settleIdempotencyKey,
} from './queries.ts';
import type { Claim, KeptAnswer, KeptAnswers, SentAnswer } from './rules.ts';

export const bindingOfAnswer = ({ account: owner, slot: id }: Pick<Claim, 'account' | 'slot'>): Binding => ({
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
  (vault: Vault) =>
  (db: Db): KeptAnswers<Work> => {
    const find = async (claim: Claim): Promise<KeptAnswer | undefined> => {
      const known = await findIdempotencyKey(db, claim);
      if (!known) return undefined;
      const { fingerprint, answer_sealed: sealed, isErased } = known;
      if (sealed === null) return { fingerprint, answer: isErased ? 'erased' : undefined };
      return { fingerprint, answer: parseJson(vault.open(sealed, bindingOfAnswer(claim))) as SentAnswer };
    };
    const settle = async (unit: Work, claim: Claim, answer: SentAnswer) => {
      // Sealed inside the transaction, because a rotation of the key waits for transactions.
      const sealed = vault.seal(JSON.stringify(answer), bindingOfAnswer(claim));
      if (!(await settleIdempotencyKey(unit.db, claim, sealed, resourceIdOf(answer))))
        throw new Error('the claim of the Idempotency-Key has lapsed');
    };
    return {
      find,
      async claim(claim) {
        for (;;) {
          if (await claimIdempotencyKey(db, claim)) return 'claimed';
          const known = await find(claim);
          if (known) return known;
        }
      },
      keep: (claim, answer, unit) =>
        unit ? settle(unit, claim, answer) : inWork(db, (own) => settle(own, claim, answer)),
      release: async (claim) => {
        await releaseIdempotencyKey(db, claim);
      },
    };
  };
