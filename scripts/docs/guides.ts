// The guides of the docs site: sections of openapi/introduction.md, and files of docs/.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { slug } from 'github-slugger';
import { parse } from 'yaml';
import { root } from '../support/root.ts';
import type { Contract } from './contract.ts';
import { workflowPage, type Workflow } from './workflow-page.ts';

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

/** In the order of the menus. Benchmarks, scaling and decisions stay in the repository: they are not for integrators. */
export const groups = ['Guides', 'Workflows', 'Build', 'Operate', 'Contribute'] as const;
export type Group = (typeof groups)[number];

/** Those who call the API. The others have a menu of their own. */
export const isForIntegrators = ({ group }: Guide): boolean => group !== 'Operate' && group !== 'Contribute';

/** Pages link to its sections as GitHub does: `../../openapi/introduction.md#errors`. */
export const introduction = 'openapi/introduction.md';

/** In the order of the menu. */
const rows: [slug: string, group: Group, about: string][] = [
  ['getting-started', 'Guides', 'A token, the first call, the first card'],
  ['authentication', 'Guides', 'Sign a token; which operation needs which scope'],
  ['browsers-and-cors', 'Guides', 'Which origins, which headers, and no token of your server in a page'],
  ['merchant-accounts', 'Guides', 'Name the account that a call is for'],
  ['amounts-times-and-null', 'Guides', 'Smallest units, currencies without cents, time zones'],
  ['pages', 'Guides', 'Cursors, limits, and filters by date'],
  ['errors', 'Guides', 'Every status and code, and what to do about it'],
  ['idempotency', 'Guides', 'Repeat a write without doing it twice'],
  ['rate-limits', 'Guides', 'Which calls are limited, and how to wait'],
  ['webhooks', 'Guides', 'Events, retries, checking a signature'],
  ['receive-events', 'Guides', 'Your first event within a minute'],
  ['languages', 'Guides', 'Sign a token and check a signature in other languages'],
  ['sandbox', 'Guides', 'Card numbers and PINs that choose the outcome'],
  ['card-data', 'Guides', 'What touches card numbers, for PCI DSS'],
  ['versioning', 'Guides', 'What may change, and how long a version is supported'],
  ['going-live', 'Guides', 'What to change, and what to check'],
  ['changelog', 'Guides', 'What each version changed'],
  ['testing', 'Build', 'The sandbox in one line of a test: vitest, a browser, Python'],
  ['client', 'Build', 'The mock, the typed client, a page with React'],
  ['operating', 'Operate', 'Install, configure, watch, back up and upgrade the service'],
  ['settings', 'Operate', 'Every environment variable of the service'],
  ['operator', 'Operate', 'Key pairs, roles, accounts, records and imports'],
  ['keys', 'Operate', 'Replace the secrets of the service without downtime'],
  ['providers', 'Operate', 'Connect a card verifier and a gift card provider'],
  ['personal-data', 'Operate', 'What is stored about buyers, and how to erase it'],
  ['api-designer', 'Contribute', 'Change the contract, and see what a change breaks'],
  ['backend-engineer', 'Contribute', 'From the contract to a handler, its tables and tests'],
];

/** Of those that are no section of the introduction, and not `docs/guides/<slug>.md`. */
const files: Record<string, string> = {
  'receive-events': 'docs/guides/webhooks.md',
  client: 'docs/guides/frontend-team.md',
  changelog: 'CHANGELOG.md',
  operating: 'docs/operating.md',
  settings: 'docs/settings.md',
};

const workflowsFile = 'docs/workflows/payments.arazzo.yaml';

export function readGuides(contract: Contract): Guide[] {
  const { workflows } = parse(readFileSync(join(root, workflowsFile), 'utf8')) as { workflows: Workflow[] };
  return [
    ...writtenGuides(contract),
    ...workflows.map((workflow): Guide => ({
      slug: workflow.workflowId,
      label: workflow.summary,
      about: workflow.description,
      group: 'Workflows',
      file: workflowsFile,
      markdown: workflowPage(contract, workflow),
      synonyms: {},
    })),
  ];
}

function writtenGuides({ info }: Contract): Guide[] {
  const sections = new Map(
    info.description.split(/^(?=# )/m).map((markdown) => [slug(titleOf(markdown)), markdown]),
  );
  return rows.map(([slug, group, about]) => {
    const file = sections.has(slug) ? introduction : (files[slug] ?? `docs/guides/${slug}.md`);
    const [, yaml = '', text = ''] = frontMatter.exec(readFileSync(join(root, file), 'utf8')) ?? [];
    const markdown = file === introduction ? (sections.get(slug) ?? '') : text;
    const { synonyms = {} } = (parse(yaml) ?? {}) as { synonyms?: Guide['synonyms'] };
    return { slug, label: titleOf(markdown), about, group, file, markdown, synonyms };
  });
}

/** The text before the first heading of the introduction. */
export const preface = ({ info }: Contract): string => info.description.split(/^# /m)[0]?.trim() ?? '';

const frontMatter = /^(?:---\n([\s\S]*?)\n---\n+)?([\s\S]*)/;

const titleOf = (markdown: string) => /^# (.+)/m.exec(markdown)?.[1] ?? '';
