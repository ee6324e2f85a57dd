/** Watches which statements keep others waiting, and for how long. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

interface Blocked {
  /** The statement that holds the lock, or the last one of its transaction. */
  holder: string;
  waiting: string;
  milliseconds: number;
}

export async function watchLocks(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const found = new Map<string, Blocked>();
  const ending = new AbortController();
  const everyMilliseconds = 20;
  const watching = (async () => {
    while (!ending.signal.aborted) {
      const { rows } = await client.query<{ holder: string; waiting: string }>(
        `select left(regexp_replace(holder.query, '\\s+', ' ', 'g'), 120) as holder,
           left(regexp_replace(waiting.query, '\\s+', ' ', 'g'), 80) as waiting
         from pg_stat_activity as waiting
         cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
         join pg_stat_activity as holder on holder.pid = blocking.pid
         where waiting.datname = current_database()`,
      );
      for (const { holder, waiting } of rows) {
        const key = `${holder} ${waiting}`;
        const one = found.get(key) ?? { holder, waiting, milliseconds: 0 };
        found.set(key, { ...one, milliseconds: one.milliseconds + everyMilliseconds });
      }
      await wait(everyMilliseconds);
    }
  })();
  return {
    async stop(): Promise<Blocked[]> {
      ending.abort();
      await watching;
      await client.end();
      return [...found.values()];
    },
  };
}
