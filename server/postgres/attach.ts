// Attaches to a PostgreSQL that another process started, if it can be used.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.ts';
import { findPostmaster } from './cluster.ts';
import type { Place } from './placement.ts';
import { isUsable, stop } from './postmaster.ts';
import { joinUsers } from './watchdog.ts';

export interface Attached {
  address: Address;
  /** Ends our use of it. */
  detach(): void;
}

const timeoutMilliseconds = 10_000;

/**
 * Undefined when no PostgreSQL runs there, or when the running one was stopped to make way for a new one: it has no
 * watchdog (an orphan), or it did not answer before the timeout (until then it may be in crash recovery).
 */
export async function attach(place: Place, password: string): Promise<Attached | undefined> {
  const deadline = Date.now() + timeoutMilliseconds;
  for (;;) {
    const found = await findPostmaster(place);
    if (!found) return undefined;
    const { address } = found;
    const detach = joinUsers(place, found.pid);
    let usable = false;
    try {
      usable = detach !== undefined && address !== undefined && (await isUsable(address, password));
    } finally {
      if (!usable) detach?.();
    }
    if (usable && detach && address) return { address, detach };
    if (!detach || Date.now() > deadline) {
      await stop(place, found.pid);
      return undefined;
    }
    await sleep(50);
  }
}
