// Maps the links of the contract (#section/<heading>, #operation/<operationId>, #tag/<tag>) and of the repository's Markdown
// files to addresses of the site. A link that leads nowhere fails the build.
import { dirname, join, normalize } from 'node:path';
import type { Contract } from './contract.ts';
import { introduction, type Guide } from './guides.ts';
import { slugOf } from './markdown.ts';

/** Keys in lower case, because Redoc compares links in lower case. */
export function addresses(contract: Contract): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name } of contract.tags) found[`#tag/${slug(name)}`] = `#/${slug(name)}`;
  for (const items of [contract.paths, contract.webhooks])
    for (const { operationId, tags } of Object.values(items).flatMap((item) => Object.values(item))) {
      const id = operationId.toLowerCase();
      found[`#operation/${id}`] = `#/${slug(tags[0])}/${id}`;
    }
  return found;
}

/** Where the links of the contract lead, relative to the site. */
function contractLinks(contract: Contract, guides: Guide[]): Record<string, string> {
  const reference = Object.entries(addresses(contract)).map(([link, hash]) => [
    link,
    `reference.html${hash}`,
  ]);
  return Object.fromEntries([...reference, ...sections(guides)]) as Record<string, string>;
}

const sections = (guides: Guide[]) =>
  guides
    .filter(({ file }) => file === introduction)
    .flatMap(({ slug: name, markdown }) =>
      [...markdown.matchAll(/^(#+) (.+)$/gm)].map(([, level = '', heading = '']) => [
        `#section/${slugOf(heading)}`,
        `guides/${name}.html${level === '#' ? '' : `#${slugOf(heading)}`}`,
      ]),
    );

export interface LinkOptions {
  contract: Contract;
  guides: Guide[];
  /** Files to download. Returns the address relative to the site. */
  asset: (file: string) => string;
}

/** Translates the links of a Markdown file of the repository, for a page in `guides/`. */
export function createLinks({ contract, guides, asset }: LinkOptions) {
  const found = contractLinks(contract, guides);
  const pages = new Map(guides.map((guide) => [guide.file, guide]));
  return (from: string, ending: 'html' | 'md') => {
    const translate = (href: string): string => {
      if (/^(https?:|mailto:)/.test(href)) return href;
      if (/^#(section|operation|tag)\//.test(href)) {
        const to = found[href.toLowerCase()];
        if (to === undefined) throw new Error(`Broken link in ${from}: ${href}`);
        return to.startsWith('guides/') ? withEnding(to.slice('guides/'.length), ending) : `../${to}`;
      }
      if (href.startsWith('#')) return href;
      const [path = '', hash] = href.split('#');
      const file = normalize(join(dirname(from), path)).replace(/\/$/, '');
      if (file === introduction) return translate(`#section/${hash ?? ''}`);
      const guide = pages.get(file) ?? pages.get(`${file}.md`);
      if (guide) return `${guide.slug}.${ending}${hash ? `#${hash}` : ''}`;
      if (/\.(json|ya?ml)$/.test(file)) return `../${asset(file)}`;
      throw new Error(`Broken link in ${from}: ${href} is no page of the docs; see scripts/docs/guides.ts`);
    };
    return translate;
  };
}

const withEnding = (address: string, ending: string) => address.replace(/\.html(#|$)/, `.${ending}$1`);

/** Links in the descriptions of the reference, which is one page beside `guides/`. */
export function linkReference(contract: Contract, guides: Guide[]): Contract {
  const found = contractLinks(contract, guides);
  const text = JSON.stringify(contract).replaceAll(
    /\]\((#(?:section|operation|tag)\/[^)\s]*)\)/g,
    (_, link: string) => {
      const to = found[link.toLowerCase()];
      if (to === undefined) throw new Error(`Broken link in the contract: ${link}`);
      return `](${to.replace(/^reference\.html(?=#)/, '')})`;
    },
  );
  return JSON.parse(text) as Contract;
}

const slug = (name: string) => name.toLowerCase().replaceAll(/\s+/g, '-');
