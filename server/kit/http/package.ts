// Offers this program itself as a package, for tests and for other folders: `npx URL/sandbox.tgz start`. It is made when it is first
// asked for: packed from the files that run, or in a checkout built.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Express } from 'express';
import { contractVersion } from '../../../generated/operations.ts';
import { projectRoot } from '../contract/load.ts';
import { reasonOf } from '../faults.ts';
import { isDoneWithin } from '../rules/async.ts';

const run = promisify(execFile);
const mostBytes = 100_000_000;
/** Less than how long nothing may happen on a connection. npm asks again after a 503. */
const patienceMilliseconds = 20_000;

export function serveSandboxPackage(app: Express, root = projectRoot, patience = patienceMilliseconds): void {
  let packed: Promise<Buffer> | undefined;
  app.get('/sandbox.tgz', async (_req, res) => {
    packed ??= basename(root) === 'dist' ? packInstallation(dirname(root)) : build(root);
    try {
      if (await isDoneWithin(patience, packed)) res.type('application/gzip').send(await packed);
      else
        res.status(503).set('Retry-After', '10').type('text/plain').send('It is being built. Ask again.\n');
    } catch (error) {
      packed = undefined;
      res
        .status(503)
        .type('text/plain')
        .send(`The package could not be made: ${reasonOf(error)}\n`);
    }
  });
}

/** Only what the package has: there may be data beside it. */
async function packInstallation(folder: string): Promise<Buffer> {
  const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { files: string[] };
  const all = ['package.json', 'LICENSE', 'README.md', ...files];
  const there = all.filter((file) => existsSync(join(folder, file)));
  const paths = there.map((file) => join(basename(folder), file));
  const args = ['-czf', '-', '-C', dirname(folder), ...paths];
  const { stdout } = await run('tar', args, { encoding: 'buffer', maxBuffer: mostBytes });
  return stdout;
}

async function build(folder: string): Promise<Buffer> {
  await run('npm', ['run', '--silent', 'build'], { cwd: folder });
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  return readFile(join(folder, `${name}-${contractVersion}.tgz`));
}
