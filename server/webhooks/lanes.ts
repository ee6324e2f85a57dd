// Chooses which jobs the worker fetches: of each lane (a subscription and an account) as many as there is room for. The others
// stay in the database, so a backlog costs the same whatever its size, and nobody waits behind it.
import { findRecipients } from '../store/events.ts';
import type { Db } from '../store/database.ts';
import type { Places } from './places.ts';
import { keyOf, type Lane } from './queue-lanes.ts';
import type { Job, Queue } from './queue.ts';
import type { Turns } from './turns.ts';

/** So many lanes are looked at each time, the next ones the time after. */
const lanesAtOnce = 200;

interface Fetched {
  jobs: Job[];
  /** Whether the next fetch may find jobs that there is room for already. */
  hasMore: boolean;
  /** Whether deliveries were due, fetched or not. */
  isBusy: boolean;
  /** Subscriptions of which more may be due than there was room for. */
  backlogs: Set<string>;
}

export function createLanes({ db, queue }: { db: Db; queue: Queue }, places: Places, turns: Turns) {
  let after: Lane | undefined;

  const allot = async (lanes: readonly Lane[], limit: number) => {
    const ids = lanes.map(({ subscription_id }) => subscription_id);
    const known = new Map((await findRecipients(db, ids)).map((found) => [found.subscription_id, found]));
    const recipients = lanes
      .map((lane) => ({ ...deleted, ...known.get(lane.subscription_id), ...lane }))
      // Last, because they would use up the limit.
      .sort((one, other) => Number(turns.wasRefused(one)) - Number(turns.wasRefused(other)));
    const rooms = places.allot(recipients);
    let left = limit;
    const wanted = recipients.flatMap((recipient, index) => {
      const most = Math.min(rooms[index] ?? 0, left);
      left -= most;
      return most > 0 ? [{ ...recipient, limit: most }] : [];
    });
    return turns.take(wanted);
  };
  /** Lanes that there was no room for, and those of which as many jobs were fetched as there was room for. */
  const backlogsOf = (due: readonly Lane[], wanted: readonly (Lane & { limit: number })[], jobs: Job[]) => {
    const left = new Map(wanted.map((lane) => [keyOf(lane), lane.limit]));
    for (const job of jobs) left.set(keyOf(job), (left.get(keyOf(job)) ?? 0) - 1);
    const full = due.filter((lane) => (left.get(keyOf(lane)) ?? 0) <= 0);
    return new Set(full.map(({ subscription_id }) => subscription_id));
  };

  return {
    async fetch(limit: number): Promise<Fetched> {
      const lanes = await queue.lanes(after, lanesAtOnce);
      const isLastPage = lanes.length < lanesAtOnce;
      after = isLastPage ? undefined : lanes.at(-1);
      const due = lanes.filter(({ isDue }) => isDue);
      const wanted = due.length > 0 ? await allot(shuffled(due), limit) : await turns.take([]);
      const jobs = wanted.length > 0 ? await queue.fetch(wanted) : [];
      return {
        jobs,
        hasMore: !isLastPage || jobs.length === limit,
        isBusy: due.length > 0,
        backlogs: backlogsOf(due, wanted, jobs),
      };
    },
  };
}

/** Jobs of a subscription that was deleted are completed without an attempt. */
const deleted = { for_all: false, active: false, failing_since: null };

/** Otherwise the first lanes would always get the room of the worker, and of subscriptions for all accounts. */
const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
