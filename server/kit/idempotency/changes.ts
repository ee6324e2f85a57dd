// Keeps the answers to requests with an Idempotency-Key in the database, sealed: an answer may have a secret in it.
import { parseJson } from '../../../client/json.ts';
import type { Db, Owner } from '../database/database.ts';
import { inWork, type Work } from '../database/unit-of-work.ts';
import { createBatches, isDoneWithin } from '../rules/async.ts';
import { readUuid } from '../rules/values.ts';
import type { Binding, Vault } from '../secrets/vault.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  releaseIdempotencyKeys,
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

type Release = KeptAnswers<Work>['release'];

/** The answer does not wait longer: a repeated request waits for a key that is being released. */
const releaseMilliseconds = 500;

/**
 * Not with the time of the request: one that had no turn has none left, and its key could not be used again for 15 s. Many are refused
 * at once, so a key pair has one statement under way in an account, and the next one releases all that came meanwhile.
 */
export function createRelease(dbOf: (owner: Owner) => Db): (owner: Owner) => Release {
  const release = createBatches<[Owner, Claim], undefined>(async (released) => {
    const [first] = released;
    if (!first) return [];
    const [owner, { account }] = first;
    const claims = released.map(([, claim]) => claim);
    await releaseIdempotencyKeys(dbOf(owner), account, claims);
    return claims.map(() => undefined);
  });
  return (owner) => async (claim) => {
    const queue = JSON.stringify([owner.keyPair, claim.account]);
    await isDoneWithin(releaseMilliseconds, release(queue, [owner, claim]));
  };
}

export const createKeptAnswers =
  (vault: Vault) =>
  (db: Db, release: Release): KeptAnswers<Work> => {
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
      release,
    };
  };
