// The guides of the docs site. The sections of openapi/introduction.md are pages by themselves; files of docs/ are named here.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../support/root.ts';
import type { Contract } from './contract.ts';
import { slugOf } from './markdown.ts';

export interface Guide {
  /** Its address is `guides/<slug>.html`, and `guides/<slug>.md` for programs. */
  slug: string;
  /** Its first heading. Menu, page and search call it by this one name. */
  label: string;
  /** What it is about, in one line: on the first page, in llms.txt and for search engines. */
  about: string;
  group: Group;
  /** Relative to the project, because the links of the text are relative to it. */
  file: string;
  markdown: string;
  /** Words that readers search for and that the text does not have, by `slug` or `slug#section`: from its front matter. */
  synonyms: Record<string, string>;
}

/** In the order of the menu. Benchmarks, scaling and decisions stay in the repository: they are not for integrators. */
export const groups = ['Guides', 'Build', 'Operate', 'Contribute'] as const;
export type Group = (typeof groups)[number];

/** Pages link to its sections as GitHub does: `../../openapi/introduction.md#errors`. */
export const introduction = 'openapi/introduction.md';

/** What the sections of the introduction are about. */
const about: Record<string, string> = {
  'getting-started': 'A token, the first call, the first card',
  authentication: 'Sign a token; which operation needs which scope',
  'merchant-accounts': 'Name the account that a call is for',
  'amounts-times-and-null': 'Smallest units, currencies without cents, time zones',
  pages: 'Cursors, limits, and filters by date',
  errors: 'Every status and code, and what to do about it',
  idempotency: 'Repeat a write without doing it twice',
  'rate-limits': 'Which calls are limited, and how to wait',
  webhooks: 'Events, retries, checking a signature',
  sandbox: 'Card numbers and PINs that choose the outcome',
  versioning: 'What may change, and how long a version is supported',
};

/** A file that is not there is left out. */
const files: [file: string, group: Group, about: string, slug?: string][] = [
  ['docs/guides/going-live.md', 'Guides', 'What to change, and what to check'],
  ['CHANGELOG.md', 'Guides', 'What each version changed', 'changelog'],
  ['docs/guides/frontend-team.md', 'Build', 'The mock, the typed client, a page with React', 'client'],
  ['docs/operating.md', 'Operate', 'Install, configure, watch, back up and upgrade the service'],
  ['docs/settings.md', 'Operate', 'Every environment variable of the service'],
  ['docs/guides/operator.md', 'Operate', 'Key pairs, roles, accounts, records and imports'],
  ['docs/guides/keys.md', 'Operate', 'Replace the secrets of the service without downtime'],
  ['docs/guides/providers.md', 'Operate', 'Connect a card verifier and a gift card provider'],
  ['docs/guides/personal-data.md', 'Operate', 'What is stored about buyers, and how to erase it'],
  ['docs/guides/api-designer.md', 'Contribute', 'Change the contract, and see what a change breaks'],
  ['docs/guides/backend-engineer.md', 'Contribute', 'From the contract to a handler, its tables and tests'],
];

export const readGuides = (contract: Contract): Guide[] => [
  // Both pages about webhooks stand together.
  ...sections(contract.info.description, readSynonyms(introduction)).flatMap((guide) =>
    guide.slug === 'webhooks' ? [guide, ...receiveEvents()] : [guide],
  ),
  ...files.flatMap((row) => fromFile(...row)),
];

const receiveEvents = () =>
  fromFile('docs/guides/webhooks.md', 'Guides', 'Your first event within a minute', 'receive-events');

/** The text before the first heading of the introduction. */
export const preface = ({ info }: Contract): string => info.description.split(/^# /m)[0]?.trim() ?? '';

const sections = (text: string, synonyms: Guide['synonyms']): Guide[] =>
  text
    .split(/^(?=# )/m)
    .filter((part) => part.startsWith('# '))
    .map((markdown) => {
      const label = titleOf(markdown);
      const slug = slugOf(label);
      const own = Object.entries(synonyms).filter(([key]) => key.split('#')[0] === slug);
      return {
        ...{ slug, label, about: about[slug] ?? '', group: 'Guides', file: introduction, markdown },
        synonyms: Object.fromEntries(own),
      };
    });

function fromFile(file: string, group: Group, text: string, slug = basename(file, '.md')): Guide[] {
  const path = join(root, file);
  if (!existsSync(path)) return [];
  const markdown = readFileSync(path, 'utf8').replace(frontMatter, '');
  return [
    { slug, label: titleOf(markdown), about: text, group, file, markdown, synonyms: readSynonyms(file) },
  ];
}

const frontMatter = /^---\n([\s\S]*?)\n---\n+/;

function readSynonyms(file: string): Guide['synonyms'] {
  const [, yaml = ''] = frontMatter.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  return (parse(yaml) as { synonyms?: Guide['synonyms'] } | null)?.synonyms ?? {};
}

const titleOf = (markdown: string) => /^# (.+)/m.exec(markdown)?.[1] ?? '';
