// Packs what others install: the client and the mock for the site, where every server offers them as /client.tgz and
// /mock.tgz, and the service itself for `npm run build` and /sandbox.tgz. The client needs only the contract and client/, so it works while the
// server does not compile. See docs/decisions/0017-client-package.md.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { insidePages, licenceTexts, readBill, shippedInPages } from './support/bill.ts';
import { bundle } from './support/bundle.ts';
import { pack, run } from './support/pack.ts';
import { writeRevision } from './support/revision.ts';
import { root } from './support/root.ts';

interface Project {
  /** Of the service. The other packages are called after it. */
  name: string;
  license: string;
  engines: Record<string, string>;
  files: string[];
  bin: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

/** What the packages share with the project, and the version of its contract. */
export function shared(project: string) {
  const readJson = (file: string): unknown => JSON.parse(readFileSync(join(project, file), 'utf8'));
  const { name, license, engines, ...rest } = readJson('package.json') as Project;
  const { version } = (readJson('generated/openapi.json') as { info: { version: string } }).info;
  const spoken = name.replaceAll('-', ' ');
  return { name, spoken, common: { version, license, engines, type: 'module' }, ...rest };
}

/** By the last part of their addresses: the names under which they are saved. With another version in its name, npm sees another file. */
export function archiveNames(project = root) {
  const { name, common } = shared(project);
  const named = (one: string) => `${one}-${common.version}.tgz`;
  return {
    'client.tgz': named(`${name}-client`),
    'mock.tgz': named(mockName(name)),
    'sandbox.tgz': named(name),
  };
}

const mockName = (service: string) => service.replace(/(-service)?$/, '-mock');

export function packClient(project = root): Promise<Buffer> {
  const { name, spoken, common, devDependencies } = shared(project);
  const entry = (file: string) => ({ types: `./client/${file}.d.ts`, default: `./client/${file}.js` });
  const manifest = {
    name: `${name}-client`,
    description: `Typed client of the ${spoken}`,
    ...common,
    // Lets bundlers leave out what a page does not import.
    sideEffects: false,
    // Not the JavaScript of types, which is empty, and their source maps, which are the largest files.
    files: ['client', 'generated', '!generated/{types,answers}.js*'],
    exports: { '.': entry('index'), './server': entry('server'), './package.json': './package.json' },
    // A range, so that a page that has the same package in another version does not load both.
    dependencies: { 'openapi-fetch': `^${devDependencies['openapi-fetch']}` },
  };
  return pack(manifest, (folder) => {
    compile(join(project, 'client'), folder);
    cpSync(join(project, 'client/README.md'), join(folder, 'README.md'));
    cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  });
}

const compile = (from: string, to: string) => {
  const tsc = join(root, 'node_modules/@typescript/native/bin/tsc');
  run(process.execPath, [tsc, '--pretty', '-p', from, '--outDir', to]);
};

/** The mock with all its packages and the contract. It offers the client, but no docs: those are where it comes from. */
export function packMock(client: Buffer): Promise<Buffer> {
  const { name: service, spoken, common } = shared(root);
  const name = mockName(service);
  const start = 'start.js';
  const fixture = fixtureAt('mock');
  const manifest = {
    name,
    description: `Mock of the ${spoken}: the examples of its contract, its checks and errors`,
    ...common,
    bin: { [name]: start },
    main: fixture.default,
    types: fixture.types,
    exports: { '.': fixture, './package.json': './package.json' },
  };
  return pack(manifest, async (folder) => {
    const files = await bundle(['mock/main.ts'], folder, { minify: true });
    writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), licenceTexts(files));
    for (const part of ['generated', 'site']) mkdirSync(join(folder, part));
    cpSync(join(root, 'generated/openapi.json'), join(folder, 'generated/openapi.json'));
    writeFileSync(join(folder, 'site/client.tgz'), client);
    writeFileSync(join(folder, 'site/archives.json'), JSON.stringify(archiveNames()));
    writeFileSync(join(folder, start), "#!/usr/bin/env node\nimport './mock/main.js';\n");
    await addFixture(folder, 'mock');
  });
}

/** The service but for its docs: bundled, with its contract, a bill of materials and the licences of others. It needs no packages. */
export async function buildService(dist: string): Promise<void> {
  const files = await bundle(['server/main.ts', 'server/cli/main.ts'], dist);
  cpSync(join(root, 'generated/openapi.json'), join(dist, 'generated/openapi.json'));
  writeRevision(root, dist);
  writeFileSync(join(dist, 'sbom.json'), JSON.stringify(readBill(), null, 2));
  const inPages = shippedInPages.map((name) => `node_modules/${name}/package.json`);
  const licences = [licenceTexts([...files, ...inPages]), insidePages];
  writeFileSync(join(dist, 'THIRD-PARTY-LICENCES.txt'), licences.join('\n'));
}

/**
 * The service as `buildService` made it, with its docs: for operators, who unpack it, and for tests of others, who install it. It needs no package
 * but PostgreSQL for its platform.
 */
export function packService(dist: string): Promise<Buffer> {
  const { name, spoken, common, files, bin, optionalDependencies } = shared(root);
  const manifest = {
    name,
    description: `${spoken.replace(/^./, (first) => first.toUpperCase())}: the service, its sandbox, its command, and the sandbox as a fixture of tests`,
    ...common,
    bin,
    exports: { './testing': fixtureAt('sandbox'), './package.json': './package.json' },
    files: [...files, 'testing'],
    optionalDependencies,
  };
  return pack(manifest, async (folder) => {
    for (const file of [...files, 'LICENSE', 'README.md'])
      // An image is built without some of them: see .dockerignore.
      if (file !== 'dist' && existsSync(join(root, file)))
        cpSync(join(root, file), join(folder, file), { recursive: true });
    cpSync(dist, join(folder, 'dist'), { recursive: true });
    await addFixture(folder, 'sandbox');
  });
}

const fixtureAt = (name: 'sandbox' | 'mock') => ({
  types: `./testing/types/testing/${name}.d.ts`,
  default: './testing/index.js',
});

/** As CommonJS, which every test runner can load. The package.json there says so, also to what does not know `exports`. */
async function addFixture(folder: string, name: 'sandbox' | 'mock'): Promise<void> {
  const out = join(folder, 'testing');
  await build({
    absWorkingDir: root,
    entryPoints: [`testing/${name}.ts`],
    outfile: join(out, 'index.js'),
    inject: ['testing/globals.ts'],
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'error' },
  });
  const types = mkdtempSync(join(tmpdir(), 'fixture-types-'));
  try {
    compile(join(root, 'testing'), types);
    for (const part of ['testing', 'generated'])
      cpSync(join(types, part), join(out, 'types', part), { recursive: true });
  } finally {
    rmSync(types, { recursive: true });
  }
  const entry = { type: 'commonjs', main: 'index.js', types: `types/testing/${name}.d.ts` };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(entry, null, 2)}\n`);
}
