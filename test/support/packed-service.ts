/** The service and the mock as others get them: packed, and installed by npm in a folder outside of the project. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { packService } from '../../scripts/packages.ts';
import { findPackage } from '../../server/kit/database/embedded/binaries.ts';
import type * as mock from '../../testing/mock.ts';
import type * as sandbox from '../../testing/sandbox.ts';
import { eventually } from './data-dir.ts';
import { root, run } from './processes.ts';

export interface PackedService extends AsyncDisposable {
  folder: string;
  archive: string;
  startSandbox: typeof sandbox.startSandbox;
  startMock: typeof mock.startMock;
}

/** Made once in a run, by the first file that asks; the others wait for it. */
const made = join(tmpdir(), 'packed-service');

async function make(): Promise<void> {
  try {
    await mkdir(made);
  } catch {
    await eventually(() => existsSync(join(made, 'done')), 'the package is installed');
    return;
  }
  const archive = join(made, 'payments-service.tgz');
  await writeFile(archive, await packService(inject('compiled')));
  await writeFile(join(made, 'package.json'), JSON.stringify({ private: true }));
  const packages = [archive, join(root, 'site/mock.tgz'), findPackage()];
  // PostgreSQL from the project's own node_modules, so that npm needs no network.
  const { status, output } = await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', ...packages],
    { cwd: made, env: { npm_config_cache: join(made, 'cache') } },
  );
  expect(status, output).toBe(0);
  await writeFile(join(made, 'done'), '');
}

/** A folder of its own, because tests change the installed package. */
export async function installPackedService(): Promise<PackedService> {
  await make();
  const folder = await mkdtemp(join(tmpdir(), 'with spaces '));
  await run('cp', ['-a', `${made}/.`, folder]);
  // Other users run it too.
  await chmod(folder, 0o755);
  const require = createRequire(join(folder, 'package.json'));
  return {
    folder,
    archive: join(folder, 'payments-service.tgz'),
    ...(require('payments-service/testing') as Pick<PackedService, 'startSandbox'>),
    ...(require('payments-mock') as Pick<PackedService, 'startMock'>),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}
