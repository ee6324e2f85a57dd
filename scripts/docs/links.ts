// Maps the links of the contract (#section/<heading>, #operation/<operationId>) and of the repository's Markdown
// files to addresses of the site. A link that leads nowhere fails the build.
import { dirname, join, normalize } from 'node:path';
import { slug } from 'github-slugger';
import { itemsOf, type Contract } from './contract.ts';
import { introduction, type Guide } from './guides.ts';

/** Where the links of the contract lead, relative to the site. Keys in lower case, because Redoc compares links in lower case. */
const contractLinks = (contract: Contract, guides: Guide[]): Record<string, string> =>
  Object.fromEntries([
    ...itemsOf(contract).map(({ operation, page }) => [
      `#operation/${operation.operationId.toLowerCase()}`,
      page,
    ]),
    ...sections(guides),
  ]) as Record<string, string>;

const sections = (guides: Guide[]) =>
  guides
    .filter(({ file }) => file === introduction)
    .flatMap(({ slug: name, markdown }) => [
      // By its address, too, which may be that of an earlier name.
      [`#section/${name}`, `guides/${name}.html`],
      ...[...markdown.matchAll(/^(#+) (.+)$/gm)].map(([, level = '', heading = '']) => [
        `#section/${slug(heading)}`,
        `guides/${name}.html${level === '#' ? '' : `#${slug(heading)}`}`,
      ]),
    ]);

export interface LinkOptions {
  contract: Contract;
  guides: Guide[];
  /** Files to download. Returns the address relative to the site. */
  asset: (file: string) => string;
}

export type Link = (href: string) => string;

/** Translates the links of a file of the repository for a page from which `base` leads to the site. */
export function createLinks({ contract, guides, asset }: LinkOptions) {
  const found = contractLinks(contract, guides);
  const pages = new Map(guides.map((guide) => [guide.file, guide]));
  return (from: string, base: string, ending: 'html' | 'md' = 'html'): Link => {
    const toPage = (address: string) => base + address.replace(/\.html(#|$)/, `.${ending}$1`);
    const translate = (href: string): string => {
      if (/^https?:/.test(href)) return href;
      if (/^#(section|operation)\//.test(href)) {
        const to = found[href.toLowerCase()];
        if (to === undefined) throw new Error(`Broken link in ${from}: ${href}`);
        return toPage(to);
      }
      if (href.startsWith('#')) return href;
      if (href.startsWith('/docs/')) return toPage(href.slice('/docs/'.length));
      const [path = '', hash] = href.split('#');
      const file = normalize(join(dirname(from), path)).replace(/\/$/, '');
      if (file === introduction) return translate(`#section/${hash ?? ''}`);
      const guide = pages.get(file);
      if (guide) return toPage(`guides/${guide.slug}.html${hash ? `#${hash}` : ''}`);
      if (/\.(json|ya?ml)$/.test(file)) return base + asset(file);
      throw new Error(
        `Broken link in ${from}: ${href} is no page of the docs: its first lines do not name a \`group\``,
      );
    };
    return translate;
  };
}

/** For the reference of one page. Each operation there has a link to its own page, and one to the console. */
export function linkReference(contract: Contract, link: Link): Contract {
  const linked = JSON.parse(
    JSON.stringify(contract).replaceAll(
      /\]\((#(?:section|operation)\/[^)\s]*)\)/g,
      (_, href: string) => `](${link(href)})`,
    ),
  ) as Contract;
  for (const { operation, page, isEvent } of itemsOf(linked)) {
    const tryIt = isEvent ? '' : `[Try it in the console](../console/#${operation.operationId}) `;
    operation.description = `${tryIt}[On a page of its own](${page})\n\n${operation.description ?? ''}`;
  }
  return linked;
}
