// The primary is killed, its whole node is killed or frozen, and it is switched over, while two instances store cards and send
// events: nothing that was acknowledged may be lost, and the instances go on without a restart.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken } from '../../../server/kit/access/token.ts';
import { createCaller } from '../../support/call.ts';
import { withClient } from '../../support/cluster.ts';
import { eventually, newDataDir } from '../../support/data-dir.ts';
import { keyIn } from '../../support/keys.ts';
import { startPatroni, type Patroni } from '../../support/patroni.ts';
import { startServer, type Server } from '../../support/processes.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startLoad, type Load, type Measurement } from './load.ts';

interface Figures {
  fault: string;
  'gap in s': string;
  'slowest answer in s': string;
  answers: string;
  lost: number;
  duplicates: number;
}

describe(
  'two instances behind HAProxy and Patroni with synchronous replication',
  { timeout: 600_000 },
  () => {
    const started: AsyncDisposable[] = [];
    const use = <T extends AsyncDisposable>(one: T): T => {
      started.unshift(one);
      return one;
    };
    const figures: Figures[] = [];
    /** How many deliveries there were before each fault. */
    const begunAt: number[] = [];
    let patroni: Patroni;
    let servers: Server[];
    let receiver: Receiver;
    let webhook: Webhook;
    let load: Load;

    beforeAll(async () => {
      patroni = use(await startPatroni());
      receiver = use(await startReceiver());
      const dataDir = use(await newDataDir());
      const env = { DATA_DIR: dataDir.path, DATABASE_URL: patroni.url, LOG_LEVEL: 'info' };
      // One after the other, because the first fills the sandbox.
      servers = [];
      for (let number = 1; number <= 2; number += 1) servers.push(use(await startServer(env)));
      const key = keyIn(dataDir.path);
      const token = signToken(key, ['*.write'], 3600);
      const urls = servers.map(({ url }) => url);
      const subscribed = await createCaller(urls[0] ?? '')('POST', '/webhook-subscriptions', {
        token,
        body: { url: receiver.url },
      });
      webhook = new Webhook((subscribed.body as { secret: string }).secret);
      load = startLoad(urls, token);
      use({ [Symbol.asyncDispose]: load.stop });
      await load.measure().grow(50);
    });
    afterAll(async () => {
      for (const one of started) await one[Symbol.asyncDispose]();
      console.table(figures);
    });

    /** What the database has, by external identifier. */
    const stored = () =>
      withClient(patroni.url, async (client) => {
        const { rows } = await client.query<{ id: string; external_identifier: string }>(
          `select id, external_identifier from payment_methods where external_identifier like 'load-%'`,
        );
        return new Map(rows.map(({ id, external_identifier }) => [external_identifier, id]));
      });

    /** Causes a fault, waits until cards are stored again, and counts. */
    async function suffer(
      fault: string,
      cause: (before: string, measurement: Measurement) => Promise<void> | void,
    ): Promise<void> {
      await patroni.whole();
      const before = await patroni.leader();
      const pids = servers.map(({ pid }) => pid);
      begunAt.push(receiver.got.length);
      const measurement = load.measure();
      await cause(before, measurement);
      // More than could have been under way.
      await measurement.grow(50);
      const acknowledged = new Map(load.acknowledged);
      const there = await stored();
      const lost = [...acknowledged].filter(([name, id]) => there.get(name) !== id);
      figures.push({
        fault,
        'gap in s': measurement.gap().toFixed(1),
        'slowest answer in s': measurement.slowest.toFixed(1),
        answers: Object.entries(measurement.answers)
          .map(([status, number]) => `${number} × ${status}`)
          .join(', '),
        lost: lost.length,
        // Counted at the end, because a repetition may come later.
        duplicates: 0,
      });
      expect(lost).toEqual([]);
      expect(load.faults).toEqual([]);
      // 504 says that the database is away; 500 would be a fault of ours.
      expect(measurement.answers).not.toHaveProperty('500');
      expect(servers.map(({ child }) => child.process.exitCode)).toEqual(pids.map(() => null));
      for (const { url } of servers)
        await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, `${url} is ready`, 180);
    }

    it('kill -9 of the primary: another node takes over', () =>
      suffer('kill -9 of PostgreSQL on the primary', (before) => {
        patroni.killPostgres(before);
        return patroni.takenOver(before);
      }));

    it('kill -9 of the whole node of the primary: another node takes over', async () => {
      let killed = '';
      await suffer('kill -9 of the primary and its Patroni', async (before) => {
        killed = before;
        await patroni.killNode(before);
        await patroni.takenOver(before);
      });
      await patroni.startNode(killed);
    });

    it('planned switchover', () =>
      suffer('switchover', async (before) => {
        await patroni.switchOver(before);
        await patroni.takenOver(before);
      }));

    it('a freeze of the whole node that is longer than ttl: another node takes over, and the thawed one cannot take it back', () =>
      suffer('freeze of the primary and its Patroni, and thaw', async (before, measurement) => {
        const thaw = patroni.freezeNode(before);
        try {
          await patroni.takenOver(before);
          // What the new primary acknowledges meanwhile is what would be lost.
          await measurement.grow(50);
        } finally {
          thaw();
        }
        // Only then does the proxy lead to one node: the thawed one has stopped, and comes back as a standby.
        await patroni.whole();
      }));

    it('every stored card has its event, and a repeated delivery has the same webhook-id', async () => {
      await load.stop();
      expect(await stored()).toEqual(load.acknowledged);
      /** The IDs of deliveries, by card. */
      const ids = new Map<string, Set<unknown>>();
      let read = 0;
      const readNew = () => {
        for (const { headers, body } of receiver.got.slice(read)) {
          const event = webhook.verify(body, headers as Record<string, string>) as { target: { id: string } };
          ids.set(event.target.id, (ids.get(event.target.id) ?? new Set()).add(headers['webhook-id']));
          read += 1;
        }
      };
      await eventually(
        () => {
          readNew();
          return [...load.acknowledged.values()].every((id) => ids.has(id));
        },
        'every event has arrived',
        180,
      );
      expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
      const seen = new Set<unknown>();
      const repeated = receiver.got.map(
        ({ headers: { 'webhook-id': id } }) => seen.size === seen.add(id).size,
      );
      figures.forEach((row, index) => {
        row.duplicates = repeated.slice(begunAt[index], begunAt[index + 1]).filter(Boolean).length;
      });
      const { acknowledged } = load;
      console.log(`${acknowledged.size} cards, ${receiver.got.length} deliveries of ${ids.size} events`);
    });
  },
);
