// Offers this program itself as a package, for tests and for other folders: `npx URL/sandbox.tgz start`. An installation packs the files
// that run when it is first asked. A checkout has to be built before, which `npm start` does beside the service, and no request does.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { contractVersion } from '../../../generated/operations.ts';
import { projectRoot } from '../contract/load.ts';
import { reasonOf } from '../faults.ts';
import { isInstallation } from '../installation.ts';

const run = promisify(execFile);
const mostBytes = 100_000_000;

/** Packs a checkout in another process. A Ctrl-C ends that, too, which is no failure. */
export function createPacking(log: Logger, isStopping: () => boolean, root = projectRoot) {
  let file: string | undefined;
  const start = () => {
    const args = ['--import', 'tsx', join('scripts', 'pack-sandbox.ts')];
    const packing = run(process.execPath, args, { cwd: root });
    const ended = packing.then(
      ({ stdout }) => {
        file = stdout.trim();
        log.debug({ file }, '/sandbox.tgz is packed');
      },
      (error: unknown) => {
        const { stderr = '' } = error as { stderr?: string };
        if (!isStopping()) log.warn({ reason: stderr.trim() || reasonOf(error) }, notPacked);
      },
    );
    return () => {
      packing.child.kill();
      return ended;
    };
  };
  return { start, file: () => file };
}

interface Offer {
  log: Logger;
  /** Of a checkout: its archive, once it is packed. */
  file: (() => string | undefined) | undefined;
}

export function serveSandboxPackage(app: Express, { log, file }: Offer, root = projectRoot): void {
  const isInstalled = isInstallation(root);
  const folder = isInstalled ? dirname(root) : root;
  // One buffer for all answers.
  let archive: Promise<Buffer> | undefined;
  const read = () => {
    const packed = file?.();
    if (isInstalled) archive ??= packInstallation(folder);
    else if (packed !== undefined) archive ??= readFile(packed);
    return archive;
  };
  app.get('/sandbox.tgz', async (_req, res) => {
    const found = await read()?.catch((error: unknown) => {
      archive = undefined;
      log.warn({ reason: reasonOf(error) }, notPacked);
    });
    if (found) res.attachment(nameOf(folder)).type('application/gzip').send(found);
    else res.status(503).set('Retry-After', '10').type('text/plain').send(absent);
  });
}

const notPacked = '/sandbox.tgz could not be packed';
const absent =
  'The archive is not here. `npm start` in a clone packs it in the background, within minutes. If that fails, its log says why.\n';

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; files: string[] };

/** With the version, because npm takes a file of the same name for the same package. */
const nameOf = (folder: string) => `${readManifest(folder).name}-${contractVersion}.tgz`;

/** Only what the package has: there may be data beside it. */
async function packInstallation(folder: string): Promise<Buffer> {
  const all = ['package.json', 'LICENSE', 'README.md', ...readManifest(folder).files];
  const there = all.filter((file) => existsSync(join(folder, file)));
  const paths = there.map((file) => join(basename(folder), file));
  const args = ['-czf', '-', '-C', dirname(folder), ...paths];
  const { stdout } = await run('tar', args, { encoding: 'buffer', maxBuffer: mostBytes });
  return stdout;
}
