/**
 * Clients that store cards through several instances while the database fails. Every answer must be one that the contract
 * declares. A client repeats what was not acknowledged, half of them with an `Idempotency-Key`.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createCaller } from '../../support/call.ts';
import { card } from '../../support/card.ts';
import { eventually } from '../../support/data-dir.ts';

export interface Load {
  /** External identifier → ID of the record, as it was acknowledged. */
  acknowledged: Map<string, string>;
  /** Requests without an answer, and answers that break the contract. */
  faults: string[];
  /** From now on. */
  measure: () => Measurement;
  stop: () => Promise<void>;
}

export interface Measurement {
  /** Answers by status. */
  answers: Record<string, number>;
  /** The longest time without a card that was stored, in seconds. */
  gap: () => number;
  /** The slowest answer, in seconds. */
  slowest: number;
  /** Resolves after so many cards more. */
  grow: (by: number) => Promise<void>;
}

const clients = 8;

const now = () => performance.now() / 1000;

export function startLoad(urls: readonly string[], token: string): Load {
  const callers = urls.map((url) => createCaller(url));
  const acknowledged = new Map<string, string>();
  const faults: string[] = [];
  let times: number[] = [];
  let current: Measurement;
  const measure = () => {
    const begun = now();
    times = [begun];
    const own = times;
    current = {
      answers: {},
      slowest: 0,
      gap: () => Math.max(...own.map((time, index) => time - (own[index - 1] ?? begun))),
      grow: async (by) => {
        const goal = own.length + by;
        await eventually(() => own.length >= goal, `${by} more cards are stored`, 180);
      },
    };
    return current;
  };
  measure();
  let over = false;

  /** Its ID, if it is stored. */
  const store = async (turn: number, external_identifier: string): Promise<string | undefined> => {
    const begun = now();
    const call = callers[turn % callers.length] ?? createCaller('');
    try {
      const { status, body } = await call('POST', '/payment-methods', {
        token,
        body: { ...card, external_identifier },
        headers: turn % 4 < 2 ? { 'Idempotency-Key': external_identifier } : {},
      });
      const { answers } = current;
      answers[status] = (answers[status] ?? 0) + 1;
      current.slowest = Math.max(current.slowest, now() - begun);
      const { id, resource_id } = body as { id?: string; resource_id?: string };
      return status === 201 ? id : resource_id;
    } catch (error) {
      faults.push(String(error instanceof Error ? (error.cause ?? error) : error));
      return undefined;
    }
  };
  const running = Array.from({ length: clients }, async (_, client) => {
    while (!over) {
      const name = `load-${randomUUID()}`;
      for (let id: string | undefined; id === undefined;) {
        id = await store(client, name);
        if (id === undefined) await wait(100);
        else {
          acknowledged.set(name, id);
          times.push(now());
        }
      }
      // Enough to be in the middle of writes. A fast machine would otherwise store ten times as many cards, whose events all
      // have to arrive.
      await wait(100);
    }
  });
  return {
    acknowledged,
    faults,
    measure,
    stop: async () => {
      over = true;
      await Promise.all(running);
    },
  };
}
