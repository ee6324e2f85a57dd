// The guides of the docs site. The sections of openapi/introduction.md are pages by themselves; files of docs/ are named here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../support/root.ts';
import type { Contract } from './contract.ts';
import { slugOf } from './markdown.ts';

export interface Guide {
  /** Its address is `guides/<slug>.html`, and `guides/<slug>.md` for programs. */
  slug: string;
  /** In the menu. */
  label: string;
  group: Group;
  /** Relative to the project, because the links of the text are relative to it. */
  file: string;
  markdown: string;
}

/** In the order of the menu. Decisions are reached through a list of them. */
export const groups = ['Guides', 'Build', 'Operate', 'Contribute'] as const;
export type Group = (typeof groups)[number] | 'Decisions';

/** Pages link to its sections as GitHub does: `../../openapi/introduction.md#errors`. */
export const introduction = 'openapi/introduction.md';

/** A file that is not there is left out. */
const files: [file: string, group: Group, label: string, slug?: string][] = [
  ['CHANGELOG.md', 'Guides', 'Changelog', 'changelog'],
  ['docs/guides/going-live.md', 'Guides', 'Going live'],
  ['docs/guides/frontend-team.md', 'Build', 'Mock and client', 'client'],
  ['docs/guides/webhooks.md', 'Build', 'Receive an event', 'receive-events'],
  ['docs/operating.md', 'Operate', 'Operating'],
  ['docs/guides/operator.md', 'Operate', 'The payments command'],
  ['docs/guides/keys.md', 'Operate', 'Rotating keys'],
  ['docs/guides/providers.md', 'Operate', 'Providers'],
  ['docs/guides/personal-data.md', 'Operate', 'Personal data'],
  ['docs/scaling.md', 'Operate', 'Scaling'],
  ['docs/benchmarks.md', 'Operate', 'Benchmarks'],
  ['docs/guides/api-designer.md', 'Contribute', 'Design the API'],
  ['docs/guides/backend-engineer.md', 'Contribute', 'Implement an operation'],
];

export const readGuides = (contract: Contract): Guide[] => [
  ...sections(contract.info.description),
  ...files.flatMap(([file, group, label, slug]) => fromFile(file, group, label, slug)),
  ...decisions(),
];

/** The text before the first heading of the introduction. */
export const preface = ({ info }: Contract): string => info.description.split(/^# /m)[0]?.trim() ?? '';

const sections = (text: string): Guide[] =>
  text
    .split(/^(?=# )/m)
    .filter((part) => part.startsWith('# '))
    .map((markdown) => {
      const label = /^# (.+)/.exec(markdown)?.[1] ?? '';
      return { slug: slugOf(label), label, group: 'Guides', file: introduction, markdown };
    });

function fromFile(file: string, group: Group, label: string, slug = basename(file, '.md')): Guide[] {
  const path = join(root, file);
  if (!existsSync(path)) return [];
  return [{ slug, label, group, file, markdown: readFileSync(path, 'utf8') }];
}

function decisions(): Guide[] {
  const folder = 'docs/decisions';
  const found = readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((name) => fromFile(`${folder}/${name}`, 'Decisions', '', `decision-${basename(name, '.md')}`));
  const list = found.map(({ file, markdown }) => `- [${titleOf(markdown)}](${file.slice('docs/'.length)})`);
  const overview: Guide = {
    slug: 'decisions',
    label: 'Decisions',
    group: 'Contribute',
    file: 'docs/decisions.md',
    markdown: `# Decisions\n\nWhy the service is built as it is.\n\n${list.join('\n')}\n`,
  };
  return [overview, ...found.map((guide) => ({ ...guide, label: titleOf(guide.markdown) }))];
}

const titleOf = (markdown: string) => /^# (.+)/m.exec(markdown)?.[1] ?? '';
