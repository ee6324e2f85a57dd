// `npm run docs`: builds the docs site in site/: guides and reference, which work from any folder and load nothing from other
// hosts.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { assemble } from './docs/assemble.ts';
import { parseContract } from './docs/contract.ts';
import { docsDigest } from './docs/digest.ts';
import { assemblePages } from './docs/pages.ts';
import { bundle } from './generate/bundle.ts';
import { packClient, packMock } from './packages.ts';
import { root } from './support/root.ts';
import { watchFolders } from './support/watch.ts';

const generated = join(root, 'generated', 'openapi.json');
const siteFolder = join(root, 'site');

export interface Folders {
  out: string;
  /** For the sandbox's own pages, which are no part of the docs. */
  pages?: string | undefined;
  contract?: string;
}

/** The same contract and guides always give the same bytes. */
export async function buildDocs({ out, pages, contract: file = generated }: Folders) {
  if (!existsSync(file)) throw new Error(`${file} does not exist. Run: npm run generate`);
  const text = readFileSync(file, 'utf8');
  const digest = docsDigest(text);
  // Until it is written again the build counts as unfinished, and the server says so.
  const digestFile = join(out, 'digest.txt');
  rmSync(digestFile, { force: true });
  for (const folder of [out, pages]) if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const contract = parseContract(text);
  const { site, parts, addReference } = await assemble(contract, text);
  // What takes a second comes first: whoever started the service looks at its landing page.
  site.write(out);
  if (pages !== undefined) {
    const own = await assemblePages(parts, contract);
    own.write(pages);
    own.prune(pages);
  }
  await addReference();
  const client = await packClient();
  site.page('client.tgz', client);
  site.page('mock.tgz', await packMock(client));
  site.write(out);
  site.prune(out);
  writeFileSync(digestFile, `${digest}\n`);
  return { file: join(out, 'index.html'), bytes: site.bytes() };
}

/** For --watch: bundles openapi/ itself instead of waiting for `npm run generate`. */
async function buildFromSource(folders: Folders) {
  const folder = mkdtempSync(join(tmpdir(), 'payments-docs-'));
  try {
    const contract = join(folder, 'openapi.json');
    writeFileSync(contract, JSON.stringify(await bundle(join(root, 'openapi/openapi.yaml'), root)));
    return await buildDocs({ ...folders, contract });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function report(build: () => ReturnType<typeof buildDocs>): Promise<boolean> {
  const start = performance.now();
  try {
    const { file, bytes } = await build();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`Documentation in ${relative('', file)} (${(bytes / 1e6).toFixed(1)} MB, ${seconds} s)`);
    return true;
  } catch (error) {
    console.error(`The docs were not built: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

async function main({ out, watch }: { out: string; watch?: boolean }): Promise<void> {
  const folders = {
    out: resolve(out),
    pages: resolve(out) === siteFolder ? join(root, 'pages') : undefined,
  };
  if (!watch) {
    if (!(await report(() => buildDocs(folders)))) process.exitCode = 1;
    return;
  }
  console.log('Watching openapi/ and docs/. Stop with Ctrl+C.');
  const build = () => report(() => buildFromSource(folders));
  let built = build();
  watchFolders(['openapi', 'docs', 'scripts/docs'], () => {
    built = built.then(build);
  });
}

if (process.argv[1] === import.meta.filename)
  await new Command('npm run docs --')
    .description(
      'Build the docs site from generated/openapi.json and docs/. Neither the build nor the site needs a network.',
    )
    .option('--out <folder>', 'folder for the site', siteFolder)
    .option('--watch', 'build from openapi/ and docs/, and rebuild whenever they change')
    .action(main)
    .parseAsync();
