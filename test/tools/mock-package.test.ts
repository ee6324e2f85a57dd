// The mock as a frontend team gets it that has nothing but the address of a server: `npx URL/mock.tgz`, in an empty folder.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { startMock } from '../../mock/mock.ts';
import { packMock } from '../../scripts/packages.ts';
import { root } from '../../scripts/support/root.ts';

/** Built by test/support/global.ts. */
const siteDir = join(root, 'site');
const client = await readFile(join(siteDir, 'client.tgz'));
const tarball = await readFile(join(siteDir, 'mock.tgz'));

it('has the same bytes when it is packed again', async () => {
  const again = await packMock(client);
  expect(again.equals(tarball), 'if server/ was edited after the build of the docs: npm run docs').toBe(true);
});

it('starts in an empty folder with one command, without other packages; serves examples and the client; has its licences', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mock-package-'));
  const empty = join(folder, 'empty');
  await mkdir(empty);
  const read = ['-xzO', 'package/THIRD-PARTY-LICENCES.txt'];
  const licences = spawnSync('tar', read, { input: tarball, encoding: 'utf8' }).stdout;
  for (const part of [
    '@stoplight/prism-http 5.12.0',
    'Apache License',
    'express 5.',
    'Permission is hereby granted',
  ])
    expect(licences).toContain(part);
  const server = await startMock({ port: 0, siteDir });
  const options = ['--yes', '--registry=http://127.0.0.1:1', '--cache', join(folder, 'cache')];
  // A group of its own, because npx does not pass on the signal that ends it.
  const child = spawn('npx', [...options, `${server.url}/mock.tgz`, '--port', '0'], {
    cwd: empty,
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  try {
    const url = await vi.waitFor(
      () => {
        const [, found] = /Mock of the payments service: (\S+)/.exec(output) ?? [];
        if (found === undefined) throw new Error(`it said only: ${output}`);
        return found;
      },
      { timeout: 60_000, interval: 100 },
    );
    const get = (path: string, headers: Record<string, string> = { Authorization: 'Bearer anything' }) =>
      fetch(`${url}${path}`, { headers });
    const schemes = (await (await get('/card-scheme-definitions')).json()) as { items: { id: string }[] };
    expect(schemes.items.map(({ id }) => id)).toContain('visa');
    expect((await get('/transactions?limit=0')).status).toBe(400);
    const chosen = { Authorization: 'Bearer anything', Prefer: 'code=403, delay=1' };
    expect((await get('/transactions', chosen)).status).toBe(403);
    const madeUp = await (await get('/transactions?__dynamic=true&__seed=7')).text();
    expect(madeUp).toMatch(/^\{"items":\[\{"type":"transaction"/);
    expect(await (await get('/transactions?__dynamic=true&__seed=7')).text()).toBe(madeUp);
    const offered = await get('/client.tgz');
    const name = `payments-service-client-${contractVersion}.tgz`;
    expect(offered.headers.get('Content-Disposition')).toBe(`attachment; filename=${name}`);
    expect(client.equals(Buffer.from(await offered.arrayBuffer()))).toBe(true);
    const said = await (await fetch(url)).text();
    const named = [...said.matchAll(/http:\S+?(?=[\s)])/g)].map(([address]) => address);
    expect(named).toEqual([`${url}/openapi.json`]);
    expect(said).toContain('/docs/ of the server you got this from');
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    expect(await readdir(empty)).toEqual([]);
  } finally {
    const ended = once(child, 'close');
    if (child.pid !== undefined) process.kill(-child.pid);
    await ended;
    await server.close();
    await rm(folder, { recursive: true });
  }
});
