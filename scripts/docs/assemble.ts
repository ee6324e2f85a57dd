// Puts the site together: guides, reference, search, and the same texts for programs.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { publish, type Document } from '../../server/kit/contract/load.ts';
import { root } from '../support/root.ts';
import { bundled } from './bundled.ts';
import { forReaders, itemsOf, type Contract, type Item } from './contract.ts';
import { createSite } from './files.ts';
import {
  groups,
  introduction,
  isForIntegrators,
  preface,
  readGuides,
  workflowFiles,
  type Guide,
} from './guides.ts';
import { createLinks, linkReference, type Link } from './links.ts';
import { render } from './markdown.ts';
import { operationPage } from './operation-page.ts';
import { renderReference } from './redoc.ts';
import { takeApart } from './reference.ts';
import { guideEntries, referenceEntries } from './search-entries.ts';
import { frame, menusOf, policyOf, type Frame, type MenuGroup, type Page } from './shell.ts';

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
  const shown = forReaders(contract);
  const items = itemsOf(shown).map((item) => ({ item, markdown: operationPage(shown, item) }));
  const overview = { file: 'docs/overview.md', markdown: read('docs/overview.md') };
  refuseBrokenLinks([...guides, overview], links);
  const rendered = guides.map((guide) => ({ guide, ...render(guide.markdown, links(guide.file, '../')) }));
  const entries = JSON.stringify([...guideEntries(rendered), ...referenceEntries(shown)]);
  const menus = menusOf(contract, guides);
  const parts: Frame = {
    name: contract.info.title,
    assets: {
      style: site.asset('site.css', own('style.css').replace('inter.woff2', font())),
      script: site.asset('site.js', await bundled(join(import.meta.dirname, 'browser/site.ts'))),
      icon: site.asset('logo.svg', own('logo.svg')),
      search: site.asset('search.js', `window.searchEntries = ${entries};\n`),
    },
  };
  const add = (page: Page, menu = menus.integrate) => {
    site.page(page.path, frame(parts, { here: 'Docs', policy: policyOf(), ...page }, menu));
  };
  const { title, summary } = contract.info;
  const description = `${title}. ${summary}.`;
  /** A text as a page for people, and as Markdown for programs. `file`: from where its links lead. */
  const addText = (text: Text, page: Partial<Page> = {}, menu?: MenuGroup[]) => {
    const { path, file, markdown, afterTitle = '', isFolded } = text;
    const up = path.includes('/') ? '../' : '';
    const { title: name, html } = render(markdown, links(file, up), isFolded);
    const content = `<article class="guide">\n${html.replace('</h1>\n', (end) => end + afterTitle)}</article>`;
    const asText = `${path}.md`;
    add({ title: name, description, path: `${path}.html`, asText, content, ...page }, menu);
    site.page(asText, withLinks(markdown, links(file, up, 'md')));
  };
  const opening = `# ${title}\n\n${preface(contract)}\n\n${overview.markdown}`;
  addText({ path: 'index', file: overview.file, markdown: opening });
  for (const guide of guides)
    addText(
      {
        ...guide,
        path: `guides/${guide.slug}`,
        afterTitle:
          guide.file === introduction ? '<p class="hint">For developers who call the API.</p>\n' : '',
      },
      { description: `${guide.about}: a guide of the ${title}.` },
      isForIntegrators(guide) ? menus.integrate : menus.operate,
    );
  for (const { item, markdown } of items)
    addText(
      {
        path: item.page.replace('.html', ''),
        file: 'the contract',
        markdown,
        afterTitle: inConsole(item),
        isFolded: true,
      },
      { description: `${item.operation.summary}: ${item.method} ${item.path} of the ${title}.` },
    );
  const contractText = read('docs/contract.md')
    .replace('{{version}}', contract.info.version)
    .replace(workflowFiles('.yaml').length > 0 ? '' : /^\|.*\/docs\/workflows\/.*\n/m, '');
  addText({ path: 'contract', file: 'docs/contract.md', markdown: contractText }, { here: 'Contract' });
  // The server makes these links relative to the address that was asked for.
  add({
    title: 'No such page',
    description,
    path: '404.html',
    up: '/docs/',
    content:
      '<article class="guide">\n<h1>No such page</h1>\n<p>The menu has the guides, and the search finds words in all pages.</p></article>',
  });
  site.page('here.js', '// A sandbox or mock answers with another script.\n');
  const published = publish(JSON.parse(text) as Document);
  site.page('openapi.json', `${JSON.stringify(published, null, 2)}\n`);
  site.page('openapi.yaml', stringify(published, { lineWidth: 120 }));
  for (const file of workflowFiles('.yaml'))
    site.page(
      file.replace('docs/', ''),
      read(file).replace('url: ../../generated/openapi.json', 'url: ../openapi.json'),
    );
  site.page('llms.txt', llms(contract, guides));
  const forPrograms = [
    ...guides.filter(isForIntegrators),
    ...items.map(({ markdown }) => ({ file: 'the contract', markdown })),
  ].map(({ file, markdown }) => withLinks(markdown, links(file, '/docs/', 'md')));
  site.page('llms-full.txt', [preface(contract), ...forPrograms].join('\n\n'));
  // Apart, because it takes longer than all the rest.
  const addReference = async () => {
    const html = await renderReference(linkReference(shown, links('the contract', '')));
    const page = { title: 'API reference', description, path: 'reference.html' };
    add({ ...page, ...takeApart(html, site.asset) }, menus.reference);
  };
  return { site, parts, addReference };
}

interface Text {
  /** Without its ending. */
  path: string;
  file: string;
  markdown: string;
  afterTitle?: string;
  isFolded?: boolean;
}

/** The console is hidden where there is none: see style.css and server/kit/http/static.ts. */
const inConsole = ({ operation, isEvent }: Item): string =>
  isEvent ? '' : `<p><a href="../../console/#${operation.operationId}">Try it in the console</a></p>\n`;

const withLinks = (markdown: string, link: Link) =>
  // Not in code: a link there is an example.
  markdown
    .split(/(^```[\s\S]*?^```)/m)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replaceAll(/\]\(([^)\s]+)\)/g, (_, href: string) => `](${link(href)})`),
    )
    .join('');

/** All at once: links to a page that was taken away are in many. */
function refuseBrokenLinks(
  texts: readonly Pick<Text, 'file' | 'markdown'>[],
  links: ReturnType<typeof createLinks>,
): void {
  const faults = new Set<string>();
  for (const { file, markdown } of texts)
    withLinks(markdown, (href) => {
      try {
        return links(file, '')(href);
      } catch (error) {
        faults.add((error as Error).message);
        return href;
      }
    });
  if (faults.size > 0) throw new Error([...faults].join('\n'));
}

/** See https://llmstxt.org. Served at the root as well, so its links begin there. */
function llms(contract: Contract, guides: Guide[]): string {
  const { title, summary } = contract.info;
  const lists = groups.map((name) => {
    const listed = guides.filter(({ group }) => group === name);
    const lines = listed.map(({ label, slug, about }) => `- [${label}](/docs/guides/${slug}.md): ${about}`);
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  const operations = itemsOf(contract).map(
    ({ operation, page, method, path }) =>
      `- [${operation.summary}](/docs/${page.replace('.html', '.md')}): ${method} ${path}`,
  );
  const workflows = workflowFiles('.arazzo.yaml').map((file) => {
    const { info } = parse(read(file)) as { info: { summary: string } };
    const about = info.summary.charAt(0).toLowerCase() + info.summary.slice(1);
    return `- [Workflows, Arazzo 1.0](/${file}): ${about}\n`;
  });
  return `# ${title}

> ${summary}

${preface(contract)}

## Contract

- [OpenAPI 3.1, YAML](/openapi.yaml): every operation, event, schema and example
- [OpenAPI 3.1, JSON](/openapi.json)
- [Every guide for those who integrate, every operation and event, in one file](/llms-full.txt)
${workflows.join('')}
## Operations and events

${operations.join('\n')}

${lists.join('\n')}`;
}
