// `npm run client`: builds the package payments-service-client in client/dist/ and packs it. It needs only the contract and
// client/, so it works while the server does not compile. See docs/decisions/0017-client-package.md.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractDigest, digestFile } from './generate/digest.ts';
import { root } from './support/root.ts';

const name = 'payments-service-client';
const client = join(root, 'client');
const dist = join(client, 'dist');

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { version } = (readJson('generated/openapi.json') as { info: { version: string } }).info;

interface Manifest {
  license: string;
  engines: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** The package.json of the client. What it shares with that of the project is written there only. */
function manifest({ license, engines, devDependencies }: Manifest) {
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
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function build(): void {
  rmSync(dist, { recursive: true, force: true });
  run(process.execPath, [join(root, 'node_modules/@typescript/native/bin/tsc'), '--pretty', '-p', client]);
  cpSync(join(client, 'README.md'), join(dist, 'README.md'));
  const project = readJson('package.json') as Manifest;
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest(project), null, 2)}\n`);
}

function pack(): string {
  // So that `*.tgz` matches one file.
  for (const file of readdirSync(client)) if (file.endsWith('.tgz')) rmSync(join(client, file));
  run('npm', ['pack', '--silent', dist, '--pack-destination', client]);
  return join(client, `${name}-${version}.tgz`);
}

async function main(): Promise<number> {
  if (readFileSync(join(root, digestFile), 'utf8').trim() !== (await contractDigest(root))) {
    console.error('openapi/ changed since the last `npm run generate`. Run: npm run generate');
    return 1;
  }
  build();
  console.log(`Packed the client. In your own project, run:\n  npm install ${pack()}`);
  return 0;
}

process.exitCode = await main();
