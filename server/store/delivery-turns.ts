// Turns of webhook workers: the deliveries of an account are made by one worker at a time, and so are those of a subscription
// for all accounts. Then the limits that a worker keeps (server/webhooks/places.ts) hold for all instances together.
import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Two heartbeats: nobody delivers for an account whose worker was killed until then. Who comes too late loses only the limits. */
const until = sql<Date>`now() + interval '10 seconds'`;

/** Returns those of the keys that it is this worker's turn for. */
export async function takeTurns(db: Db, worker: string, keys: readonly string[]): Promise<string[]> {
  const taken = await db
    .insertInto('delivery_turns')
    // In order, because two workers that take the same turns in another order would deadlock.
    .values(keys.toSorted().map((key) => ({ key, worker, until })))
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ worker, until })
        .where((where) =>
          where.or([
            where('delivery_turns.until', '<', sql<Date>`now()`),
            where('delivery_turns.worker', '=', worker),
          ]),
        ),
    )
    .returning('key')
    .execute();
  return taken.map(({ key }) => key);
}

/** Keeps all turns of this worker, and returns them. One that was not kept in time may be another's by now. */
export async function keepTurns(db: Db, worker: string): Promise<string[]> {
  const kept = await db
    .updateTable('delivery_turns')
    .set({ until })
    .where('worker', '=', worker)
    .returning('key')
    .execute();
  return kept.map(({ key }) => key);
}

/** Gives these turns to whoever wants them, or all of this worker. */
export async function passTurns(db: Db, worker: string, keys?: readonly string[]): Promise<void> {
  await db
    .deleteFrom('delivery_turns')
    .where('worker', '=', worker)
    .$if(keys !== undefined, (some) => some.where('key', 'in', keys ?? []))
    .execute();
}
