/** The service and the mock as others get them: packed, and installed by npm in a folder outside of the project. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { packMock, packService } from '../../scripts/packages.ts';
import { findPackage } from '../../server/database/embedded/binaries.ts';
import type * as mock from '../../testing/mock.ts';
import type * as sandbox from '../../testing/sandbox.ts';
import { run } from './processes.ts';

export interface PackedService extends AsyncDisposable {
  folder: string;
  archive: string;
  startSandbox: typeof sandbox.startSandbox;
  startMock: typeof mock.startMock;
}

export async function installPackedService(): Promise<PackedService> {
  const folder = await mkdtemp(join(tmpdir(), 'with spaces '));
  // Other users run it too.
  await chmod(folder, 0o755);
  const archive = join(folder, 'payments-service.tgz');
  const mockArchive = join(folder, 'payments-mock.tgz');
  await writeFile(archive, await packService(inject('compiled')));
  await writeFile(mockArchive, await packMock(Buffer.from('')));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true }));
  // PostgreSQL from the project's own node_modules, so that npm needs no network.
  const options = ['--offline', '--no-audit', '--no-fund'];
  const { status, output } = await run('npm', ['install', ...options, archive, mockArchive, findPackage()], {
    cwd: folder,
    env: { npm_config_cache: join(folder, 'cache') },
  });
  expect(status, output).toBe(0);
  const require = createRequire(join(folder, 'package.json'));
  return {
    folder,
    archive,
    ...(require('payments-service/testing') as Pick<PackedService, 'startSandbox'>),
    ...(require('payments-mock') as Pick<PackedService, 'startMock'>),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}
