/**
 * Clients that store cards all the time, each card with its own external identifier, while processes are killed. A client
 * that gets no answer retries, and gets a 409 with the ID of the record if that was stored.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { openReadyDatabase } from '../../server/database/open.ts';

export interface Load {
  /** External identifier → ID of the record, from the answers. */
  stored: Map<string, string>;
  /** How many of these came from a 201, and how many from a 409 after a lost answer. */
  counts: { created: number; found: number; lost: number };
  faults: string[];
  /** Waits until this many more are stored. */
  grow: (by: number) => Promise<void>;
  stop: () => Promise<void>;
}

/** Long, because a start on a busy machine is slow. */
const patience = 90_000;

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39', security_code: '737' };

export function startLoad(url: () => string, token: string, clients = 8): Load {
  const stored = new Map<string, string>();
  const counts = { created: 0, found: 0, lost: 0 };
  const faults: string[] = [];
  let over = false;
  let last = 'no answer';

  const store = async (external_identifier: string): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(`${url()}/payment-methods`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...card, external_identifier }),
        signal: AbortSignal.timeout(20_000),
      })
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as { id: string; resource_id: string },
        }))
        .catch((error: unknown) => {
          last = String(error instanceof Error ? (error.cause ?? error) : error);
          return undefined;
        });
      if (answer) last = `${answer.status} ${JSON.stringify(answer.body)}`;
      if (answer?.status === 201) {
        stored.set(external_identifier, answer.body.id);
        counts.created += 1;
        return;
      }
      if (answer?.status === 409 && attempt > 1) {
        stored.set(external_identifier, answer.body.resource_id);
        counts.found += 1;
        return;
      }
      if (answer && answer.status !== 500) faults.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      counts.lost += 1;
      await wait(50);
    }
  };
  const running = Array.from({ length: clients }, async () => {
    while (!over) await store(`load-${randomUUID()}`);
  });
  return {
    stored,
    counts,
    faults,
    async grow(by) {
      const goal = stored.size + by;
      const deadline = Date.now() + patience;
      while (stored.size < goal) {
        if (faults.length > 0) throw new Error(`A client was refused: ${faults[0] ?? ''}`);
        if (Date.now() > deadline) throw new Error(`Nothing is stored any more. Last: ${last}`);
        await wait(20);
      }
    },
    async stop() {
      over = true;
      await Promise.all(running);
    },
  };
}

/** Checks that the embedded database in this folder has exactly the acknowledged records, each once. */
export async function expectStored(dataDir: string, { stored, faults }: Load): Promise<void> {
  expect(faults).toEqual([]);
  const database = await openReadyDatabase({
    environment: 'sandbox',
    databaseUrl: undefined,
    dataDir,
    log: () => undefined,
  });
  try {
    const rows = await database.db
      .selectFrom('payment_methods')
      .select(['id', 'external_identifier'])
      .where('external_identifier', 'like', 'load-%')
      .execute();
    const there = new Map(rows.map(({ id, external_identifier }) => [external_identifier ?? '', id]));
    expect(rows).toHaveLength(there.size);
    expect(there).toEqual(stored);
  } finally {
    await database.close();
  }
}
