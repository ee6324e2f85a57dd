// `npm run docs`: builds the docs site in site/, one page that works from any folder and loads nothing from other hosts.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { forReaders, logo, parseContract } from './docs/contract.ts';
import { addresses, brokenLinks } from './docs/links.ts';
import { finishPage } from './docs/page.ts';
import { onChange } from './docs/watch.ts';
import { redocly } from './support/redocly.ts';
import { root } from './support/root.ts';

const parts = join(import.meta.dirname, 'docs');
const generated = join(root, 'generated', 'openapi.json');

/** See https://redocly.com/docs/redoc/v3.x/config. Not in redocly.yaml, to keep everything about the site in one place. */
const options = {
  sortRequiredPropsFirst: true,
  jsonSamplesExpandLevel: 'all',
  codeSamples: { languages: [{ lang: 'curl' }, { lang: 'Payload' }] },
};

/** Writes `index.html` and `openapi.json` to `out`. The same contract always gives the same bytes. */
export async function buildDocs({ out, contract = generated }: { out: string; contract?: string }) {
  if (!existsSync(contract)) throw new Error(`${contract} does not exist. Run: npm run generate`);
  const text = readFileSync(contract, 'utf8');
  const parsed = parseContract(text);
  const description = `${parsed.info.title}. ${parsed.info.summary}.`;
  const theme = readFileSync(join(parts, 'theme.css'), 'utf8');
  const rendered = await render(JSON.stringify(forReaders(parsed)));
  const page = finishPage(rendered, { description, addresses: addresses(parsed), logo: logo(), theme }, text);
  const broken = brokenLinks(parsed, text, page);
  if (broken.length > 0) throw new Error(`Broken links in the contract: ${broken.join(', ')}`);

  mkdirSync(out, { recursive: true });
  const file = join(out, 'index.html');
  writeFileSync(file, page);
  writeFileSync(join(out, 'openapi.json'), text);
  return { file, bytes: Buffer.byteLength(page) };
}

const render = (contract: string) =>
  inTemporaryFolder(async (folder) => {
    const source = join(folder, 'contract.json');
    const settings = join(folder, 'options.json');
    const output = join(folder, 'index.html');
    writeFileSync(source, contract);
    writeFileSync(settings, JSON.stringify(options));
    const looks = ['--openapi', settings, '--template', join(parts, 'template.html')];
    await run('build-docs', source, '--inlineBundle', ...looks, '--output', output);
    return readFileSync(output, 'utf8');
  });

/** For --watch: bundles openapi/ itself instead of waiting for `npm run generate`. */
const buildFromSource = (out: string) =>
  inTemporaryFolder(async (folder) => {
    const contract = join(folder, 'openapi.json');
    await run('bundle', 'payments@v1', '--output', contract);
    return buildDocs({ out, contract });
  });

async function run(...args: string[]): Promise<void> {
  const { status, stdout, stderr } = await redocly(args);
  if (status !== 0) throw new Error(`redocly ${args.join(' ')} failed:\n${stderr}${stdout}`.trimEnd());
}

async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-docs-'));
  try {
    return await use(folder);
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
    console.error(error instanceof Error ? error.message : error);
    return false;
  }
}

async function main({ out, watch }: { out: string; watch?: boolean }): Promise<void> {
  const folder = resolve(out);
  if (!watch) {
    if (!(await report(() => buildDocs({ out: folder })))) process.exitCode = 1;
    return;
  }
  console.log('Watching openapi/. Stop with Ctrl+C.');
  await onChange([join(root, 'openapi'), parts], () => report(() => buildFromSource(folder)));
}

if (process.argv[1] === import.meta.filename)
  await new Command('npm run docs --')
    .description(
      'Build the docs site from generated/openapi.json. Neither the build nor the site needs a network.',
    )
    .option('--out <folder>', 'folder for index.html and openapi.json', join(root, 'site'))
    .option('--watch', 'build from openapi/, and rebuild whenever it changes')
    .action(main)
    .parseAsync();
