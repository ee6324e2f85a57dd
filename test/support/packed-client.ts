/**
 * The client as its consumers get it: generated and packed by the project's own code in a copy of the project, and installed by
 * npm in a folder outside of it, from a server. The copy's contract has a field that the copy's server does not know yet.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startMock } from '../../mock/mock.ts';
import { generate } from '../../scripts/generate/generate.ts';
import { packClient } from '../../scripts/packages.ts';
import { brokenProject, swap } from './contract-copy.ts';
import { root, run, type Ended } from './processes.ts';

export interface PackedClient extends AsyncDisposable {
  /** The copy of the project. */
  tree: string;
  /** With the tarball, as the build of the docs makes it. */
  siteDir: string;
  tarball: string;
  /** The folder of a consumer that has installed the package. */
  consumer: string;
  /** The installed package. */
  folder: string;
  /** The paths in the tarball. */
  files: string[];
}

export async function installPackedClient(): Promise<PackedClient> {
  const project = await brokenProject({
    'components/schemas/CardSchemeDefinition.yaml': (text) =>
      swap(
        'display_name]',
        'display_name, short_name]',
      )(text).concat('  short_name:\n    description: A short name of the scheme.\n    type: string\n'),
    'components/examples/CardSchemeDefinitionsAll.yaml': (text) =>
      text.replaceAll(/^( *)(- )?display_name: .*$/gm, '$&\n$1short_name: CS'),
  });
  const tree = project.folder;
  for (const part of ['client', 'server', 'tsconfig.json'])
    await cp(join(root, part), join(tree, part), { recursive: true });
  const generated = await generate(tree);
  expect(generated.ok, generated.message).toBe(true);
  const siteDir = join(tree, 'site');
  const tarball = join(siteDir, 'client.tgz');
  await mkdir(siteDir);
  await writeFile(tarball, await packClient(tree));
  const files = await run('tar', ['-tzf', tarball]);

  // Not below the copy, where it would also find the packages of the project.
  const consumer = await mkdtemp(join(tmpdir(), 'client-consumer-'));
  await writeFile(join(consumer, 'package.json'), JSON.stringify({ private: true }));
  // The dependencies come from the project's own node_modules, so that npm needs no network. It asks for one of them all the same,
  // and would try that three times in 70 seconds.
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) =>
    join(root, 'node_modules', name),
  );
  const registry = ['--registry=http://127.0.0.1:1', '--fetch-retries=0'];
  const options = [...registry, '--install-links', '--no-audit', '--no-fund'];
  const mock = await startMock({ port: 0, siteDir });
  const packages = [...dependencies, `${mock.url}/client.tgz`];
  succeeded(await run('npm', ['install', ...options, ...packages], { cwd: consumer }));
  await mock.close();
  return {
    tree,
    siteDir,
    tarball,
    consumer,
    folder: join(consumer, 'node_modules/payments-service-client'),
    files: files.stdout.split('\n').filter(Boolean),
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await rm(consumer, { recursive: true, force: true });
    },
  };
}

function succeeded({ status, output }: Ended): void {
  expect(status, output).toBe(0);
}
