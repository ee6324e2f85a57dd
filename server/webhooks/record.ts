// Records attempts. Those of an account that end while a transaction of it is under way are recorded together in the next one,
// so a busy receiver needs one transaction for many attempts, and a single attempt does not wait.
import type { Logger } from 'pino';
import { noteFailure, noteSuccesses, recordAttempts, type Attempted } from '../store/events.ts';
import { codeOf, inTransaction, type Db, type Tx } from '../store/database.ts';
import type { Limit } from './limit.ts';
import type { Job, Queue } from './queue.ts';
import { switchOffAfterMilliseconds } from './schedule.ts';

export interface Result extends Attempted {
  job: Job;
  outcome: 'succeeded' | 'failed' | 'gone';
  /** Seconds until the next attempt; undefined when there is none. */
  wait: number | undefined;
}

/** Completes the job and schedules the next attempt in the same transaction. False when the delivery was erased meanwhile. */
export type Record = (result: Result) => Promise<boolean>;

interface Deps {
  db: Db;
  queue: Queue;
  log: Logger;
  /** Of database transactions. */
  limit: Limit;
}

interface Entry {
  result: Result;
  settle: (recording: Promise<boolean>) => void;
}

const mostAtOnce = 100;

export function createRecord({ db, queue, log, limit }: Deps): Record {
  /** By account. An account is in here while a transaction of it is under way or waits for its turn. */
  const waiting = new Map<string, Entry[]>();

  /** Returns the deliveries that exist. */
  const write = async (results: readonly Result[]): Promise<{ has: (id: string) => boolean }> => {
    const { found, switchedOff } = await inTransaction(db, async (tx) => {
      const [{ job }] = results as [Result];
      const found = await recordAttempts(tx, job.merchant_account_id, results);
      const again = results.flatMap(({ job: done, wait }) =>
        wait === undefined || found.get(done.deliveryId) !== true ? [] : [{ ...done, afterSeconds: wait }],
      );
      await queue.add(tx, again);
      await queue.complete(
        tx,
        results.map((result) => result.job.id),
      );
      return { found, switchedOff: await noteOutcomes(tx, results) };
    });
    for (const subscription of switchedOff)
      log.warn(
        { subscription },
        'the webhook subscription failed and was switched off; to switch it on again: payments webhooks activate ID',
      );
    return found;
  };

  const writeBatch = async (batch: readonly Entry[]): Promise<void> => {
    const writing = write(batch.map(({ result }) => result));
    const fault = await writing.then(
      () => undefined,
      (error: unknown) => error,
    );
    // One by one, so that an attempt that cannot be stored spoils no other.
    if (batch.length > 1 && isRefused(fault)) for (const entry of batch) await writeBatch([entry]);
    else for (const { settle, result } of batch) settle(writing.then((found) => found.has(result.id)));
  };

  const writeAll = async (account: string, entries: Entry[]): Promise<void> => {
    while (entries.length > 0) await limit(() => writeBatch(takeBatch(entries)));
    waiting.delete(account);
  };

  return (result) =>
    new Promise((settle) => {
      const { merchant_account_id: account } = result.job;
      const entries = waiting.get(account);
      if (entries) entries.push({ result, settle });
      else {
        const own = [{ result, settle }];
        waiting.set(account, own);
        void writeAll(account, own);
      }
    });
}

/** Data exceptions, violated constraints, and a row that somebody else has locked. If the database is away, nothing of the batch can be stored. */
const isRefused = (error: unknown): boolean => /^(2[23]|57014|55P03)/.test(String(codeOf(error)));

/** Of each delivery one attempt: a statement changes a row only once. A replay may have made another one. */
function takeBatch(entries: Entry[]): Entry[] {
  const batch = new Map<string, Entry>();
  const left = entries.filter((entry) => {
    const { id } = entry.result;
    if (batch.size === mostAtOnce || batch.has(id)) return true;
    batch.set(id, entry);
    return false;
  });
  entries.splice(0, entries.length, ...left);
  return [...batch.values()];
}

/** Returns the subscriptions that were switched off. */
async function noteOutcomes(tx: Tx, results: readonly Result[]): Promise<string[]> {
  const switchedOff: string[] = [];
  const last = new Map<string, Result['outcome']>();
  const succeeded = new Set<string>();
  // In their order: a success ends earlier failures, and a failure after it begins anew.
  for (const { job, outcome, attempt } of results) {
    const { subscription_id: id } = job;
    if (last.get(id) === outcome) continue;
    last.set(id, outcome);
    if (outcome === 'succeeded') succeeded.add(id);
    else {
      if (succeeded.delete(id)) await noteSuccesses(tx, [id]);
      const isOff = await noteFailure(tx, id, outcome, { now: attempt.at, switchOffAfterMilliseconds });
      if (isOff) switchedOff.push(id);
    }
  }
  if (succeeded.size > 0) await noteSuccesses(tx, [...succeeded]);
  return switchedOff;
}
