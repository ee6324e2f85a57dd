// Puts the site together: guides, reference, search, and the same texts for programs.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stringify } from 'yaml';
import { publish, type Document } from '../../server/contract/load.ts';
import { root } from '../support/root.ts';
import { bundled } from './bundled.ts';
import { forReaders, type Contract } from './contract.ts';
import { createSite } from './files.ts';
import { groups, introduction, preface, readGuides, type Guide } from './guides.ts';
import { createLinks, linkReference, type Link } from './links.ts';
import { render } from './markdown.ts';
import { renderReference } from './redoc.ts';
import { takeApart } from './reference.ts';
import { guideEntries, referenceEntries } from './search-entries.ts';
import { frame, menusOf, policyOf, type Frame, type Page } from './shell.ts';

const own = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const inter = join(root, 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
const font = () => `data:font/woff2;base64,${readFileSync(inter, 'base64')}`;

/** `text` is the contract as it was generated. */
export async function assemble(contract: Contract, text: string) {
  const site = createSite();
  const guides = readGuides(contract);
  const links = createLinks({
    contract,
    guides,
    asset: (file) => site.asset(basename(file), readFileSync(join(root, file))),
  });
  const rendered = guides.map((guide) => ({ guide, ...render(guide.markdown, links(guide.file, '../')) }));
  const entries = JSON.stringify([...guideEntries(rendered), ...referenceEntries(contract)]);
  const menus = menusOf(contract, guides);
  const parts: Frame = {
    name: contract.info.title,
    assets: {
      style: site.asset('site.css', own('style.css').replace('inter.woff2', font())),
      script: site.asset('site.js', await bundled('site.ts')),
      icon: site.asset('logo.svg', own('logo.svg')),
      search: site.asset('search.js', `window.searchEntries = ${entries};\n`),
    },
  };
  const add = (page: Page, menu = menus.integrate) => {
    site.page(page.path, frame(parts, { here: 'Docs', policy: policyOf(), ...page }, menu));
  };
  const guidePage = (html: string) => `<article class="guide">\n${html}</article>`;
  const { title, summary } = contract.info;
  const description = `${title}. ${summary}.`;
  const opening = `# ${title}\n\n${preface(contract)}\n\n${read('docs/overview.md')}`;
  const { html: overview } = render(opening, links('docs/overview.md', ''));
  add({ title, description, path: 'index.html', content: guidePage(overview) });
  const forIntegrators = ({ group }: Guide) => group === 'Guides' || group === 'Build';
  for (const { guide, title: name, html } of rendered)
    add(
      {
        title: name,
        description: `${guide.about}: a guide of the ${title}.`,
        path: `guides/${guide.slug}.html`,
        content: guidePage(guide.file === introduction ? html.replace('</h1>\n', `$&${forCallers}`) : html),
      },
      forIntegrators(guide) ? menus.integrate : menus.operate,
    );
  for (const guide of guides)
    site.page(`guides/${guide.slug}.md`, asMarkdown(guide, links(guide.file, '../', 'md')));
  const { html: contractHtml } = render(
    read('docs/contract.md').replace('{{version}}', contract.info.version),
    links('docs/contract.md', ''),
  );
  add({
    title: 'Contract',
    description,
    path: 'contract.html',
    here: 'Contract',
    content: guidePage(contractHtml),
  });
  // The server makes these links relative to the address that was asked for.
  add({
    title: 'No such page',
    description,
    path: '404.html',
    up: '/docs/',
    content: guidePage(
      '<h1>No such page</h1>\n<p>The menu has the guides, and the search finds words in all pages.</p>',
    ),
  });
  site.page(
    'here.js',
    '// Where the docs have a console beside them, the server answers with another script.\n',
  );
  const published = publish(JSON.parse(text) as Document);
  site.page('openapi.json', `${JSON.stringify(published, null, 2)}\n`);
  site.page('openapi.yaml', stringify(published, { lineWidth: 120 }));
  for (const name of ['payments.arazzo.yaml', 'receiver.openapi.yaml'])
    site.page(
      `workflows/${name}`,
      read(`docs/workflows/${name}`).replace('url: ../../generated/openapi.json', 'url: ../openapi.json'),
    );
  site.page('llms.txt', llms(contract, guides));
  const texts = guides
    .filter(forIntegrators)
    .map((guide) => asMarkdown(guide, links(guide.file, '/docs/', 'md')));
  site.page('llms-full.txt', [preface(contract), ...texts].join('\n\n'));
  // Apart, because it takes longer than all the rest.
  const addReference = async () => {
    const html = await renderReference(linkReference(forReaders(contract), links('the contract', '')));
    add({ title: 'API reference', description, path: 'reference.html', ...takeApart(html, site.asset) });
  };
  return { site, parts, addReference };
}

/** As other guides say themselves. In the introduction it stands once, before its first section. */
const forCallers = '<p class="hint">For developers who call the API.</p>\n';

const asMarkdown = ({ markdown }: Guide, link: Link) =>
  // Not in code: a link there is an example.
  markdown
    .split(/(^```[\s\S]*?^```)/m)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replaceAll(/\]\(([^)\s]+)\)/g, (_, href: string) => `](${link(href)})`),
    )
    .join('');

/** See https://llmstxt.org. Served at the root as well, so its links begin there. */
function llms(contract: Contract, guides: Guide[]): string {
  const { title, summary } = contract.info;
  const lists = groups.map((name) => {
    const listed = guides.filter(({ group }) => group === name);
    const lines = listed.map(({ label, slug, about }) => `- [${label}](/docs/guides/${slug}.md): ${about}`);
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  return `# ${title}

> ${summary}

${preface(contract)}

## Contract

- [OpenAPI 3.1, YAML](/openapi.yaml): every operation, event, schema and example
- [OpenAPI 3.1, JSON](/openapi.json)
- [Every guide for those who integrate, in one file](/llms-full.txt)
- [Workflows, Arazzo 1.0](/docs/workflows/payments.arazzo.yaml): store a first card, page through transactions, receive an event

${lists.join('\n')}`;
}
