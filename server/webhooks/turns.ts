// Which accounts it is this worker's turn for: see server/store/delivery-turns.ts.
import { randomUUID } from 'node:crypto';
import type { Db } from '../store/database.ts';
import { keepTurns, passTurns, takeTurns } from '../store/delivery-turns.ts';
import type { Recipient } from './places.ts';

export interface Turns {
  /** Returns the recipients that it is this worker's turn for, and passes on the turns that it does not need any more. */
  take: <R extends Recipient>(recipients: readonly R[]) => Promise<R[]>;
  /** While a delivery is held, its turn is not passed on. */
  hold: (recipient: Recipient) => Disposable;
  keep: () => Promise<void>;
  passAll: () => Promise<void>;
}

const keyOf = ({ for_all, subscription_id, merchant_account_id }: Recipient) =>
  for_all ? `subscription ${subscription_id}` : `account ${merchant_account_id}`;

export function createTurns(db: Db): Turns {
  const worker = randomUUID();
  const mine = new Set<string>();
  const held = new Map<string, number>();
  return {
    async take(recipients) {
      const wanted = new Set(recipients.map(keyOf));
      const idle = [...mine].filter((key) => !held.has(key) && !wanted.has(key));
      if (idle.length > 0) {
        for (const key of idle) mine.delete(key);
        await passTurns(db, worker, idle);
      }
      const others = [...wanted].filter((key) => !mine.has(key));
      if (others.length > 0) for (const key of await takeTurns(db, worker, others)) mine.add(key);
      return recipients.filter((recipient) => mine.has(keyOf(recipient)));
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
    async keep() {
      const before = [...mine];
      if (before.length === 0) return;
      const kept = new Set(await keepTurns(db, worker));
      for (const key of before) if (!kept.has(key)) mine.delete(key);
    },
    async passAll() {
      if (mine.size > 0) await passTurns(db, worker);
      mine.clear();
    },
  };
}
