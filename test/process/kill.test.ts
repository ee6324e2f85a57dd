// Server and database are killed while clients store cards and deliveries are in progress: every acknowledged card must exist,
// and its event must be received. A server whose embedded database was killed starts it again.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { signToken } from '../../server/resources/api-key-pairs/token.ts';
import { runningUrl } from '../../server/database/embedded/index.ts';
import { createCaller } from '../support/call.ts';
import { withClient } from '../support/cluster.ts';
import { startServer } from '../support/processes.ts';
import { expectStored, startLoad } from '../support/load.ts';
import { eventually, newDataDir } from '../support/data-dir.ts';
import { startReceiver } from '../support/receiver.ts';

/** Answers a delivery only after two more have arrived, so that some are always in progress at a kill. */
function createHesitation() {
  const unanswered: ServerResponse[] = [];
  let hesitant = true;
  const answer = (atMost: number) => {
    while (unanswered.length > atMost) unanswered.shift()?.writeHead(204).end();
  };
  return {
    take: (res: ServerResponse) => {
      unanswered.push(res);
      answer(hesitant ? 2 : 0);
    },
    end: () => {
      hesitant = false;
      answer(0);
    },
  };
}

const clients = 8;
const victims = ['server', 'server and database', 'database'];

it('after kill -9 every acknowledged card exists exactly once, and its event is received; a repeated delivery has the same webhook-id', async () => {
  await using dataDir = await newDataDir();
  const env = { DATA_DIR: dataDir.path, LOG_LEVEL: 'info' };
  const hesitation = createHesitation();
  await using receiver = await startReceiver((res) => {
    hesitation.take(res);
  });
  let server = await startServer(env);
  try {
    const key = createPrivateKey(await readFile(join(dataDir.path, 'sandbox-key.pem')));
    const token = signToken(key, ['*.write'], 3600);
    const { body } = await createCaller(server.url)('POST', '/webhook-subscriptions', {
      token,
      body: { url: receiver.url },
    });
    const webhook = new Webhook((body as { secret: string }).secret);
    const load = startLoad(() => server.url, token, clients);
    for (const [round, victim] of victims.entries()) {
      await load.grow(27 + round * 7);
      await receiver.received(receiver.got.length + 1);
      const postmaster = readFileSync(join(dataDir.path, 'postgres', 'data', 'postmaster.pid'), 'utf8');
      if (victim !== 'server') process.kill(Number(postmaster.split('\n')[0]), 'SIGKILL');
      if (victim === 'database') continue;
      await server.kill();
      server = await startServer(env);
    }
    await load.grow(20);
    await load.stop();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    hesitation.end();
    // The leases of killed servers end now instead of in 25 s. What runs may be sent twice, as after a crash.
    await withClient((await runningUrl(dataDir.path)) ?? '', (client) =>
      client.query('update deliveries set due_at = now() where leased_by is not null'),
    );

    // Each delivery is verified once, because the wait asks for what is missing many times.
    const ids = new Map<string, Set<unknown>>();
    let verified = 0;
    const missing = () => {
      const fresh = receiver.got.slice(verified);
      verified += fresh.length;
      for (const { headers, body: text } of fresh) {
        const event = webhook.verify(text, headers as Record<string, string>) as {
          id: string;
          name: string;
          target: { id: string };
        };
        expect(event).toMatchObject({ id: headers['webhook-id'], name: 'payment-method.created' });
        ids.set(event.target.id, (ids.get(event.target.id) ?? new Set()).add(event.id));
      }
      return [...load.stored.values()].filter((id) => !ids.has(id));
    };
    await eventually(() => missing().length === 0, 'every stored card has its event', 180);
    expect([...ids.values()].filter((webhookIds) => webhookIds.size !== 1)).toEqual([]);
    // Otherwise no delivery was in progress at a kill, and the test proves nothing.
    expect(receiver.got.length).toBeGreaterThan(ids.size);
    // Whenever the server was killed, each client lost an answer or was refused a connection.
    expect(load.counts.lost).toBeGreaterThan(2 * clients);
    await server.stop();
    await expectStored(dataDir.path, load);
  } finally {
    hesitation.end();
    await server.kill();
  }
}, 360_000);
