// Packs payments-service-client for the site, where every server offers it as /client.tgz. It needs only the contract and client/,
// so it works while the server does not compile. See docs/decisions/0017-client-package.md.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './support/root.ts';

const name = 'payments-service-client';

interface Manifest {
  license: string;
  engines: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** The package.json of the client. What it shares with that of the project is written there only. */
function manifest({ license, engines, devDependencies }: Manifest, version: string) {
  const entry = (file: string) => ({ types: `./client/${file}.d.ts`, default: `./client/${file}.js` });
  return {
    name,
    version,
    description: 'Typed client of the payments service',
    license,
    type: 'module',
    engines,
    // Lets bundlers leave out what a page does not import.
    sideEffects: false,
    // Not the JavaScript of the types, which is empty, and its source map, which is the largest file.
    files: ['client', 'generated', '!generated/types.js*'],
    exports: { '.': entry('index'), './server': entry('server'), './package.json': './package.json' },
    dependencies: { 'openapi-fetch': devDependencies['openapi-fetch'] },
  };
}

function run(command: string, args: string[]): void {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`The client cannot be packed.\n${stdout}`.trimEnd());
}

/** The tarball. The same files always give the same bytes. */
export function packClient(project = root): Buffer {
  const readJson = (file: string): unknown => JSON.parse(readFileSync(join(project, file), 'utf8'));
  const { version } = (readJson('generated/openapi.json') as { info: { version: string } }).info;
  const folder = mkdtempSync(join(tmpdir(), 'payments-client-'));
  try {
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc');
    run(process.execPath, [tsc, '--pretty', '-p', join(project, 'client'), '--outDir', folder]);
    cpSync(join(project, 'client/README.md'), join(folder, 'README.md'));
    const own = manifest(readJson('package.json') as Manifest, version);
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(own, null, 2)}\n`);
    run('npm', ['pack', '--silent', folder, '--pack-destination', folder]);
    return readFileSync(join(folder, `${name}-${version}.tgz`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
