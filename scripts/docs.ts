// `npm run docs`: builds the docs site in site/: guides and reference, which work from any folder and load nothing from other
// hosts.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assemblePages } from './dashboard/pages.ts';
import { assemble } from './docs/assemble.ts';
import { parseContract } from './docs/contract.ts';
import { docsDigest } from './docs/digest.ts';
import { archiveNames, packClient, packMock } from './packages.ts';
import { readOptions } from './support/options.ts';
import { root } from './support/root.ts';

/** `pages`: for the sandbox's own pages, which are no part of the docs. The same contract and guides always give the same bytes. */
export async function buildDocs(out: string, pages: string): Promise<void> {
  const text = readFileSync(join(root, 'generated', 'openapi.json'), 'utf8');
  const digest = docsDigest(text);
  // Until it is written again the build counts as unfinished, and the server says so.
  const digestFile = join(out, 'digest.txt');
  rmSync(digestFile, { force: true });
  for (const folder of [out, pages]) mkdirSync(folder, { recursive: true });
  const contract = parseContract(text);
  const { site, parts, addReference } = await assemble(contract, text);
  // What takes a second comes first: whoever started the service looks at its landing page.
  site.write(out);
  const own = await assemblePages(parts, contract);
  own.write(pages);
  own.prune(pages);
  await addReference();
  const client = await packClient();
  site.page('client.tgz', client);
  site.page('mock.tgz', await packMock(client));
  site.page('archives.json', JSON.stringify(archiveNames()));
  site.write(out);
  site.prune(out);
  writeFileSync(digestFile, `${digest}\n`);
}

const help = `Build the docs site in site/, from generated/openapi.json and docs/. Neither the build nor the site needs a network.

  npm run docs`;

if (process.argv[1] === import.meta.filename) {
  readOptions({}, help);
  await buildDocs(join(root, 'site'), join(root, 'pages')).then(
    () => {
      console.log('Documentation in site/index.html');
    },
    (error: unknown) => {
      console.error(`The docs were not built: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    },
  );
}
