// The frame of every page, of the docs and of the sandbox: head, header with search, and in the docs the menu.
import { itemsOf, type Contract, type Item } from './contract.ts';
import type { Group, Guide } from './guides.ts';
import { escape } from './markdown.ts';

export interface MenuGroup {
  label: string;
  /** The badge is GET, POST or event. */
  links: { label: string; href: string; badge?: string }[];
}

export interface Page {
  title: string;
  description: string;
  /** Where it is in the site, such as `guides/errors.html`. */
  path: string;
  content: string;
  /** The same as Markdown. */
  asText?: string;
  /** Where the docs are, unless relative to the page: for pages outside of them, or that are shown at any address. */
  up?: string;
  /** Which link of the header leads here. */
  here?: 'Home' | 'Docs' | 'Console' | 'Contract';
  /** For the head, besides what every page has. */
  head?: string;
  /** In the page, because any server may send it. The sandbox sends that of its own pages itself. */
  policy?: string;
}

export interface Frame {
  name: string;
  /** Addresses of assets, relative to the docs. */
  assets: { style: string; script: string; icon: string; search: string };
}

/**
 * Integrators have one link to the pages of operators and contributors, which have a menu of their own. In the reference of one
 * page, the menu leads to its parts.
 */
export function menusOf(
  contract: Contract,
  guides: Guide[],
): Record<'integrate' | 'reference' | 'operate', MenuGroup[]> {
  const linksOf = (label: Group) =>
    guides
      .filter(({ group }) => group === label)
      .map((guide) => ({ label: guide.label, href: `guides/${guide.slug}.html` }));
  const overview = { label: 'Overview', href: 'index.html' };
  const operate = linksOf('Operate');
  const workflows = linksOf('Workflows');
  const withItems = (address: (item: Item) => string, ...more: MenuGroup['links']): MenuGroup[] => [
    { label: 'Guides', links: [overview, ...linksOf('Guides')] },
    ...(workflows.length > 0 ? [{ label: 'Workflows', links: workflows }] : []),
    ...contract.tags.map(({ name }) => ({
      label: name,
      links: itemsOf(contract)
        .filter(({ operation }) => operation.tags[0] === name)
        .map((item) => ({
          label: item.operation.summary,
          href: address(item),
          badge: item.isEvent ? 'event' : item.method,
        })),
    })),
    {
      label: 'Build and run',
      links: [...more, ...linksOf('Build'), { label: 'Operate', href: operate[0]?.href ?? '' }],
    },
  ];
  return {
    integrate: withItems(({ page }) => page, {
      label: 'The whole reference on one page',
      href: 'reference.html',
    }),
    reference: withItems(({ href }) => href),
    operate: [
      { label: 'Integrate', links: [overview] },
      { label: 'Operate', links: operate },
      { label: 'Contribute', links: linksOf('Contribute') },
    ],
  };
}

/** Scripts, styles and the font of this site only, and nothing from other hosts. */
export const policyOf = (styles = "'self'"): string =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; font-src data:; base-uri 'none'; form-action 'none'`;

export function frame({ name, assets }: Frame, page: Page, menu?: MenuGroup[]): string {
  const { up = page.path.includes('/') ? '../' : '' } = page;
  const { title, description, content, asText, here, head = '', policy } = page;
  const full = title === name ? name : `${title} · ${name}`;
  const link = (label: Page['here'], href: string) =>
    `<a href="${up}${href}"${label === here ? ' aria-current="page"' : ''}>${label}</a>`;
  // Styles come before scripts, which then wait for them: to scroll a menu that is not laid out yet would scroll the page.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${policy ? `<meta http-equiv="Content-Security-Policy" content="${policy}">\n` : ''}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(full)}</title>
<meta name="description" content="${escape(description)}">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" type="image/svg+xml" href="${up}${assets.icon}">
<link rel="stylesheet" href="${up}${assets.style}">
${asText ? `<link rel="alternate" type="text/markdown" href="${up}${asText}">\n` : ''}<script src="${up}here.js"></script>
<script src="${up}${assets.script}" data-search="${up}${assets.search}" data-root="${up}"></script>
${head}</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="bar">
${menu ? '<button class="menu-button" type="button" aria-label="Menu" popovertarget="menu">☰</button>\n' : ''}<a class="brand" href="${up}index.html" aria-label="${escape(name)}"><img src="${up}${assets.icon}" alt="" width="28" height="28"><span>${escape(name)}</span></a>
<nav class="pages" aria-label="Pages">
${link('Home', '../')}
${link('Docs', 'index.html')}
${link('Console', '../console/')}
${link('Contract', 'contract.html')}
</nav>
<button class="search-button" type="button" aria-haspopup="dialog">
<svg viewBox="0 0 16 16" width="14" role="img" aria-label="Search" fill="none" stroke="currentColor" stroke-width="2"><circle cx="7" cy="7" r="5"/><path d="m11 11 4 4"/></svg>
<span aria-hidden="true">Search <kbd>/</kbd></span>
</button>
<button class="theme-button" type="button" aria-label="Dark colours" aria-pressed="false">◐</button>
</header>
${menu ? withMenu(page, menu, up) : content}
<dialog class="search" aria-label="Search">
<input type="search" placeholder="Search guides and reference" aria-label="Search guides and reference" autocomplete="off" spellcheck="false">
<p class="found" role="status"></p>
<ul></ul>
</dialog>
</body>
</html>
`;
}

function withMenu({ content, path, asText }: Page, menu: MenuGroup[], up: string): string {
  // Redoc's markup has a <main> of its own, and a page has one.
  const tag = content.includes('<main') ? 'div' : 'main';
  return `<div class="columns">
<nav id="menu" aria-label="Docs" popover>
${menu.map((group) => menuGroup(group, path, up)).join('\n')}
</nav>
<${tag} id="content" tabindex="-1">
${content}
${asText ? `<p class="as-text"><a href="${up}${asText}">This page as Markdown</a></p>\n` : ''}</${tag}>
</div>`;
}

const menuGroup = ({ label, links }: MenuGroup, path: string, up: string) => `<section>
<h2>${escape(label)}</h2>
<ul>
${links.map((link) => menuLink(link, path, up)).join('\n')}
</ul>
</section>`;

function menuLink({ label, href, badge }: MenuGroup['links'][number], path: string, up: string): string {
  const mark = badge ? `<span class="badge ${badge.toLowerCase()}">${badge}</span>` : '';
  const current = href === path ? ' aria-current="page"' : '';
  return `<li><a href="${up}${href}"${current}><span>${escape(label)}</span>${mark}</a></li>`;
}
