// Which accounts it is this worker's turn for: see server/store/delivery-turns.ts.
import { randomUUID } from 'node:crypto';
import type { Db } from '../store/database.ts';
import { keepTurns, passTurns, takeTurns } from '../store/delivery-turns.ts';
import type { Recipient } from './places.ts';

export interface Turns {
  /** Returns the recipients that it is this worker's turn for, and passes on the turns that it does not need any more. */
  take: <R extends Recipient>(recipients: readonly R[]) => Promise<R[]>;
  /** Whether another worker had the turn a moment ago. */
  wasRefused: (recipient: Recipient) => boolean;
  /** While a delivery is held, its turn is not passed on. */
  hold: (recipient: Recipient) => Disposable;
  /** Keeps the turns. A worker that cannot read the queue keeps only those of deliveries that it holds. */
  keep: (canRead: boolean) => Promise<void>;
  passAll: () => Promise<void>;
}

const refusedMilliseconds = 1_000;

const keyOf = ({ for_all, subscription_id, merchant_account_id }: Recipient) =>
  for_all ? `subscription ${subscription_id}` : `account ${merchant_account_id}`;

export function createTurns(db: Db): Turns {
  const worker = randomUUID();
  /** Only these are kept, so a turn that is ours without our knowledge (an answer was lost) ends by itself. */
  const mine = new Set<string>();
  const held = new Map<string, number>();
  let refused = new Map<string, number>();
  return {
    async take(recipients) {
      const wanted = new Set(recipients.map(keyOf));
      const idle = [...mine].filter((key) => !held.has(key) && !wanted.has(key));
      if (idle.length > 0) {
        await passTurns(db, worker, idle);
        for (const key of idle) mine.delete(key);
      }
      const others = [...wanted].filter((key) => !mine.has(key));
      if (others.length > 0) {
        for (const key of await takeTurns(db, worker, others)) mine.add(key);
        const now = performance.now();
        refused = new Map([...refused].filter(([, at]) => now - at < refusedMilliseconds));
        for (const key of others) if (!mine.has(key)) refused.set(key, now);
      }
      return recipients.filter((recipient) => mine.has(keyOf(recipient)));
    },
    wasRefused: (recipient) => {
      const at = refused.get(keyOf(recipient));
      return at !== undefined && performance.now() - at < refusedMilliseconds;
    },
    hold(recipient) {
      const key = keyOf(recipient);
      held.set(key, (held.get(key) ?? 0) + 1);
      return {
        [Symbol.dispose]() {
          const left = (held.get(key) ?? 1) - 1;
          if (left > 0) held.set(key, left);
          else held.delete(key);
        },
      };
    },
    async keep(canRead) {
      if (!canRead) for (const key of mine) if (!held.has(key)) mine.delete(key);
      const wanted = [...mine];
      if (wanted.length === 0) return;
      const kept = new Set(await keepTurns(db, worker, wanted));
      for (const key of wanted) if (!kept.has(key)) mine.delete(key);
    },
    async passAll() {
      if (mine.size > 0) await passTurns(db, worker, [...mine]);
      mine.clear();
    },
  };
}
