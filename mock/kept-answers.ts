// The answers to requests with an Idempotency-Key, in memory: the only thing that the mock remembers. The oldest are
// forgotten when there are too many.
import {
  keepKeySeconds,
  type Claim,
  type KeptAnswer,
  type KeptAnswers,
} from '../server/kit/idempotency/rules.ts';

const mostKeys = 1_000;

export function createKeptAnswers(now: () => Date): KeptAnswers<never> {
  const kept = new Map<string, KeptAnswer & { id: string; at: number }>();
  const find = ({ slot }: Claim) => {
    const known = kept.get(slot);
    return known && now().getTime() - known.at < 1000 * keepKeySeconds ? known : undefined;
  };
  const ownOf = ({ slot, id }: Claim) => (kept.get(slot)?.id === id ? kept.get(slot) : undefined);
  return {
    find: (claim) => Promise.resolve(find(claim)),
    claim(claim) {
      const known = find(claim);
      if (known) return Promise.resolve(known);
      const { id, slot, fingerprint } = claim;
      // Deleted first, because a Map is in the order of first insertion.
      kept.delete(slot);
      kept.set(slot, { id, fingerprint, answer: undefined, at: now().getTime() });
      for (const oldest of kept.keys()) if (kept.size > mostKeys) kept.delete(oldest);
      return Promise.resolve('claimed');
    },
    keep(claim, answer) {
      const own = ownOf(claim);
      if (own) own.answer = answer;
      return Promise.resolve();
    },
    release(claim) {
      if (ownOf(claim)) kept.delete(claim.slot);
      return Promise.resolve();
    },
  };
}
