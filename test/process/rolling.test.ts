// Several instances behind a load balancer: they are replaced one after the other, or one is killed, while clients store cards.
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { signToken } from '../../server/kit/access/token.ts';
import { startBalancer, type Balancer } from '../support/balancer.ts';
import { card } from '../support/card.ts';
import { eventually, newDataDir } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { keyIn } from '../support/keys.ts';
import { startServer, type Server } from '../support/processes.ts';

const clientsAtOnce = 4;

/** Clients that store cards until they are stopped. What has failed is not tried again. */
function startClients({ call }: Balancer, token: string) {
  const stored = new Set<string>();
  const failures: string[] = [];
  let over = false;
  const clients = Array.from({ length: clientsAtOnce }, async () => {
    while (!over)
      try {
        const body = { ...card, external_identifier: randomUUID() };
        const { status, body: answer } = await call('POST', '/payment-methods', { token, body });
        if (status === 201) stored.add((answer as { id: string }).id);
        else failures.push(String(status));
      } catch (error) {
        failures.push(String(error instanceof Error ? (error.cause ?? error) : error));
      }
  });
  return {
    stored,
    failures,
    grow: (by: number) => {
      const goal = stored.size + by;
      return eventually(() => stored.size >= goal, `${by} more cards are stored`);
    },
    stop: async () => {
      over = true;
      await Promise.all(clients);
    },
  };
}

/** What it starts is stopped at the end of the test, also if something else does not start. */
function untilFinished<T extends AsyncDisposable>(started: T): T {
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

async function startAll(delay: string, replacements = 0) {
  const dataDir = untilFinished(await newDataDir());
  const DATABASE_URL = await createTestDatabase();
  const servers: Server[] = [];
  // All before the load begins: a start under load may take long on a busy machine, which is not the subject.
  while (servers.length < 2 + replacements)
    servers.push(
      untilFinished(await startServer({ DATA_DIR: dataDir.path, DATABASE_URL, SHUTDOWN_DELAY: delay })),
    );
  const balancer = untilFinished(startBalancer());
  for (const { url } of servers.slice(0, 2)) await balancer.add(url);
  const key = keyIn(dataDir.path);
  const clients = startClients(balancer, signToken(key, ['*.write'], 3600));
  onTestFinished(clients.stop);
  const countStored = () =>
    withClient(DATABASE_URL, async (client) => {
      const ids = [...clients.stored];
      return (await client.query('select from payment_methods where id = any($1)', [ids])).rowCount;
    });
  return { servers, balancer, clients, countStored };
}

it('a rolling restart fails no request, if SHUTDOWN_DELAY is longer than the balancer looks away', async () => {
  const { servers, balancer, clients, countStored } = await startAll('1', 2);
  for (const index of [0, 1]) {
    await clients.grow(20);
    await balancer.add(servers[index + 2]?.url ?? '');
    expect((await servers[index]?.stop())?.status).toBe(0);
  }
  await clients.grow(20);
  await clients.stop();
  expect(clients.failures).toEqual([]);
  expect(await countStored()).toBe(clients.stored.size);
});

it('kill -9 of one instance fails only what it had not answered: each client loses one request at most', async () => {
  const { servers, balancer, clients, countStored } = await startAll('0');
  await clients.grow(20);
  const [victim] = servers;
  await eventually(() => balancer.inFlight(victim?.url ?? '') > 0, 'the instance has a request');
  await victim?.kill();
  await clients.grow(20);
  await clients.stop();
  expect(clients.failures.length, clients.failures.join()).toBeLessThanOrEqual(clientsAtOnce);
  expect(clients.failures.filter((failure) => /^\d+$/.test(failure))).toEqual([]);
  expect(await countStored()).toBe(clients.stored.size);
});
