// The sandbox of the scripts soak.ts, bench.ts and workflows.ts; and its archive, which `npm start` packs in a checkout.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { createSandbox } from '../../scripts/support/sandbox.ts';
import { createExpress } from '../../server/kit/http/express.ts';
import { createPacking, serveSandboxPackage } from '../../server/kit/http/package.ts';
import { eventually } from '../support/data-dir.ts';
import { root } from '../support/processes.ts';

it('fails with the last lines of a service that did not start', async () => {
  await using sandbox = await createSandbox({ LOG_LEVEL: 'unicorn' });
  await expect(sandbox.start()).rejects.toThrow(/ended\. [^]* answered: nothing[^]*LOG_LEVEL must be/);
});

/** A service of a checkout whose archive this script makes. The real one takes half a minute: the nightly's root-clone waits for it. */
async function checkout(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'checkout-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'scripts'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"name": "unicorns"}');
  await writeFile(join(folder, 'scripts/pack-sandbox.ts'), script);
  const lines: { level: number; reason?: string }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]);
  const log = pino({ level: 'debug' }, { write });
  const life = { isStopping: false };
  const { start, file } = createPacking(log, () => life.isStopping, folder);
  const app = createExpress();
  serveSandboxPackage(app, { log, file }, folder);
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const get = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/sandbox.tgz`, {
      headers: { Connection: 'close' },
    });
    return [response.status, await response.text(), response.headers.get('content-disposition')];
  };
  return { folder, start, get, lines, life };
}

const absent = [503, expect.stringMatching(/^The archive is not here\. `npm start` .*\.\n$/), null];

it('is packed beside the service, and not by a request', async () => {
  const { folder, start, get, lines } = await checkout(
    `import { existsSync, writeFileSync } from 'node:fs';
     const wait = setInterval(() => {
       if (!existsSync('ready')) return;
       clearInterval(wait);
       writeFileSync('made.tgz', 'made');
       console.log(process.cwd() + '/made.tgz');
     }, 20);`,
  );
  // If a request packed, this one would.
  await writeFile(join(folder, 'ready'), '');
  expect(await get()).toEqual(absent);
  await rm(join(folder, 'ready'));
  const stop = start();
  onTestFinished(stop);
  expect(await get()).toEqual(absent);
  await writeFile(join(folder, 'ready'), '');
  await expect.poll(() => lines).toEqual([expect.objectContaining({ level: 20 })]);
  const name = `attachment; filename=unicorns-${contractVersion}.tgz`;
  expect(await get()).toEqual([200, 'made', name]);
});

it('tells its owner, and nobody else, why it could not be packed', async () => {
  const { start, get, lines } = await checkout(`console.error('No ' + process.cwd()); process.exitCode = 1;`);
  onTestFinished(start());
  await expect.poll(() => lines).toEqual([expect.objectContaining({ level: 40 })]);
  expect(lines[0]?.reason).toMatch(/^No \/.*checkout-/);
  expect(await get()).toEqual(absent);
});

it('ends with the service, which is no failure', async () => {
  const { folder, start, lines, life } = await checkout(
    `import { writeFileSync } from 'node:fs';
     process.on('SIGTERM', () => { writeFileSync('ended', ''); process.exit(1); });
     setInterval(() => {}, 1000);
     writeFileSync('started', '');`,
  );
  const stop = start();
  await eventually(() => existsSync(join(folder, 'started')), 'it packs');
  life.isStopping = true;
  await stop();
  expect([existsSync(join(folder, 'ended')), lines]).toEqual([true, []]);
});
