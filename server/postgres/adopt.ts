// Using a PostgreSQL that another process started, and telling one that can be used from one in the way.
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostmaster } from './cluster.ts';
import type { Place } from './placement.ts';
import { isUsable, stop } from './postmaster.ts';
import { joinUsers } from './watchdog.ts';

export interface Adopted {
  port: number;
  /** Says that we need it no longer. */
  leave(): void;
}

const patience = 10_000;

/**
 * Joins the users of the PostgreSQL that runs there. One that nobody watches is an orphan, or about to be
 * stopped: it is stopped, for a new one to take its place. One that is silent gets time: it may be repairing
 * itself.
 */
export async function adopt(place: Place, password: string): Promise<Adopted | undefined> {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await findPostmaster(place);
    if (!found) return undefined;
    const leave = joinUsers(place, found.pid);
    let usable = false;
    try {
      usable = leave !== undefined && (await isUsable(found.port, password));
    } finally {
      if (!usable) leave?.();
    }
    if (usable && leave) return { port: found.port, leave };
    if (!leave || Date.now() > deadline) {
      await stop(place, found.pid);
      return undefined;
    }
    await sleep(50);
  }
}
