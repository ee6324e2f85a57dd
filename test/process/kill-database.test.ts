// The embedded database is killed repeatedly while clients store cards: the server restarts it, and every acknowledged card
// must exist.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
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

const postmaster = () =>
  Number(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);

it('after kill -9 of the database every acknowledged card exists exactly once', async () => {
  server = await startServer({ DATA_DIR: dataDir, LOG_LEVEL: 'info' });
  const key = createPrivateKey(await readFile(join(dataDir, 'sandbox-key.pem')));
  const load = startLoad(() => server.url, signToken(key, ['payment-methods.write'], 3600));
  const killed = new Set<number>();
  for (let round = 1; round <= 4; round += 1) {
    await load.grow(40 + round * 7);
    const pid = postmaster();
    killed.add(pid);
    process.kill(pid, 'SIGKILL');
  }
  await load.grow(40);
  await load.stop();
  const ready = await fetch(`${server.url}/readyz`);
  await server.stop();

  expect(killed.size).toBe(4);
  expect(ready.status).toBe(200);
  expect(load.counts.lost).toBeGreaterThanOrEqual(4);
  await expectStored(dataDir, load);
}, 180_000);
