// Packs what others install, for the site, where every server offers it: payments-service-client as /client.tgz and the mock as
// /mock.tgz. The client needs only the contract and client/, so it works while the server does not compile. See
// docs/decisions/0017-client-package.md.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { licenceTexts } from './support/bill.ts';
import { bundle } from './support/bundle.ts';
import { pack, run } from './support/pack.ts';
import { root } from './support/root.ts';

interface Project {
  license: string;
  engines: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** What the packages share with the project, and the version of its contract. */
function shared(project: string) {
  const readJson = (file: string): unknown => JSON.parse(readFileSync(join(project, file), 'utf8'));
  const { license, engines, devDependencies } = readJson('package.json') as Project;
  const { version } = (readJson('generated/openapi.json') as { info: { version: string } }).info;
  return { common: { version, license, engines, type: 'module' }, devDependencies };
}

export function packClient(project = root): Promise<Buffer> {
  const { common, devDependencies } = shared(project);
  const entry = (file: string) => ({ types: `./client/${file}.d.ts`, default: `./client/${file}.js` });
  const manifest = {
    name: 'payments-service-client',
    description: 'Typed client of the payments service',
    ...common,
    // Lets bundlers leave out what a page does not import.
    sideEffects: false,
    // Not the JavaScript of the types, which is empty, and its source map, which is the largest file.
    files: ['client', 'generated', '!generated/types.js*'],
    exports: { '.': entry('index'), './server': entry('server'), './package.json': './package.json' },
    dependencies: { 'openapi-fetch': devDependencies['openapi-fetch'] },
  };
  return pack(manifest, (folder) => {
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc');
    run(process.execPath, [tsc, '--pretty', '-p', join(project, 'client'), '--outDir', folder]);
    cpSync(join(project, 'client/README.md'), join(folder, 'README.md'));
  });
}

/** The mock with all its packages and the contract. It offers the client, but no docs: those are where it comes from. */
export function packMock(client: Buffer): Promise<Buffer> {
  const start = 'payments-mock.js';
  const manifest = {
    name: 'payments-mock',
    description: 'Mock of the payments service: the examples of its contract, its checks and errors',
    ...shared(root).common,
    bin: { 'payments-mock': start },
  };
  return pack(manifest, async (folder) => {
    const files = await bundle(['mock/main.ts'], folder, { minify: true });
    writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), licenceTexts(files));
    for (const part of ['generated', 'site']) mkdirSync(join(folder, part));
    cpSync(join(root, 'generated/openapi.json'), join(folder, 'generated/openapi.json'));
    writeFileSync(join(folder, 'site/client.tgz'), client);
    writeFileSync(join(folder, start), "#!/usr/bin/env node\nimport './mock/main.js';\n");
  });
}
