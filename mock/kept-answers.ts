// The answers to requests with an Idempotency-Key, in memory: the only thing that the mock remembers. The oldest are
// forgotten when there are too many.
import {
  keepKeyMilliseconds,
  type KeptAnswers,
  type Known,
} from '../server/resources/idempotency-keys/rules.ts';

const mostKeys = 1_000;

export function createKeptAnswers(now: () => Date): KeptAnswers<never> {
  const kept = new Map<string, Known & { at: number }>();
  const find = (slot: string): Known | undefined => {
    const known = kept.get(slot);
    return known && now().getTime() - known.at < keepKeyMilliseconds ? known : undefined;
  };
  return {
    find: ({ slot }) => Promise.resolve(find(slot)),
    claim({ slot, fingerprint }) {
      const known = find(slot);
      if (known) return Promise.resolve({ known });
      const own: Known & { at: number } = { fingerprint, answer: undefined, at: now().getTime() };
      // Deleted first, because a Map is in the order of first insertion.
      kept.delete(slot);
      kept.set(slot, own);
      for (const oldest of kept.keys()) if (kept.size > mostKeys) kept.delete(oldest);
      const claim = {
        keep: (answer: Known['answer']) => {
          own.answer = answer;
          return Promise.resolve();
        },
        release: () => {
          if (kept.get(slot) === own) kept.delete(slot);
          return Promise.resolve();
        },
      };
      return Promise.resolve({ claim });
    },
  };
}
