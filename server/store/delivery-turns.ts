// Turns of webhook workers: the deliveries of an account are made by one worker at a time, and so are those of a subscription
// for all accounts. Then the limits that a worker keeps (server/webhooks/places.ts) hold for all instances together. All
// statements lock in the same order, because otherwise workers deadlock.
import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Three times as long as between two calls of `keepTurns`. Who comes too late loses only the limits. */
const until = sql<Date>`now() + interval '6 seconds'`;

interface Turn {
  key: string;
}

/** Returns those of the keys that it is this worker's turn for. */
export async function takeTurns(db: Db, worker: string, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<Turn>`
    insert into delivery_turns as turn (key, worker, until)
    select key, ${worker}::uuid, ${until} from unnest(${keys}::text[]) as key order by key collate "C"
    on conflict (key) do update set worker = excluded.worker, until = excluded.until
    where turn.until < now() or turn.worker = excluded.worker
    returning key`.execute(db);
  return rows.map(({ key }) => key);
}

const lockOwn = (worker: string, keys: readonly string[]) => sql`
  select key from delivery_turns where worker = ${worker} and key = any(${keys}::text[])
  order by key collate "C" for update`;

/** Keeps these turns of the worker, and returns them. One that was not kept in time may be another's by now. */
export async function keepTurns(db: Db, worker: string, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<Turn>`
    with own as materialized (${lockOwn(worker, keys)})
    update delivery_turns set until = ${until} where key in (select key from own) returning key`.execute(db);
  return rows.map(({ key }) => key);
}

/** Gives these turns of the worker to whoever wants them. */
export async function passTurns(db: Db, worker: string, keys: readonly string[]): Promise<void> {
  await sql`
    with own as materialized (${lockOwn(worker, keys)})
    delete from delivery_turns where key in (select key from own)`.execute(db);
}
