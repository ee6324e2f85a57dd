// The server is killed repeatedly while clients store cards: every acknowledged card must exist.
import { createPrivateKey } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signToken } from '../../server/domain/token.ts';
import { startServer, type Server } from '../support/processes.ts';
import { expectStored, startLoad } from '../support/load.ts';

let dataDir: string;
let server: Server;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'payments-kill-'));
  await chmod(dataDir, 0o755);
});
afterAll(async () => {
  await server.kill();
  await rm(dataDir, { recursive: true, force: true });
});

it('after kill -9 every acknowledged card exists exactly once, and a retry after a lost answer finds its card', async () => {
  server = await startServer({ DATA_DIR: dataDir, LOG_LEVEL: 'info' });
  const key = createPrivateKey(await readFile(join(dataDir, 'sandbox-key.pem')));
  const load = startLoad(() => server.url, signToken(key, ['payment-methods.write'], 3600));
  for (let round = 1; round <= 4; round += 1) {
    await load.grow(40 + round * 7);
    await server.kill();
    server = await startServer({ DATA_DIR: dataDir, LOG_LEVEL: 'info' });
  }
  await load.grow(40);
  await load.stop();
  await server.stop();

  // In each round, each of the eight clients lost an answer or was refused a connection.
  expect(load.counts.lost).toBeGreaterThanOrEqual(4 * 8);
  await expectStored(dataDir, load);
}, 180_000);
