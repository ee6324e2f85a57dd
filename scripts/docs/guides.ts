// The guides of the docs site: sections of openapi/introduction.md, files of docs/, and workflows. What begins with a group in its
// front matter is a guide; benchmarks, scaling and decisions stay in the repository, because they are not for integrators.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { slug } from 'github-slugger';
import { parse } from 'yaml';
import { filesIn } from '../support/files.ts';
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

/** In the order of the menus. */
export const groups = ['Guides', 'Workflows', 'Build', 'Operate', 'Contribute'] as const;
export type Group = (typeof groups)[number];

/** Those who call the API. The others have a menu of their own. */
export const isForIntegrators = ({ group }: Guide): boolean => group !== 'Operate' && group !== 'Contribute';

/** Pages link to its sections as GitHub does: `../../openapi/introduction.md#errors`. */
export const introduction = 'openapi/introduction.md';

/** What the first lines of a file say, as YAML: all of it in a guide, `about` and `synonyms` by section in the introduction. */
interface FrontMatter<About> {
  group?: Group;
  /** The place in the menu of its group. */
  order?: number;
  /** If it is not the name of the file. */
  slug?: string;
  /** Of sections that had another name once: their addresses stay. */
  slugs?: Partial<Record<string, string>>;
  about?: About;
  synonyms?: Guide['synonyms'];
}

type Placed = Guide & { order: number };

export function readGuides(contract: Contract, project = root): Guide[] {
  const written = [...sections(contract, project), ...files(project)].sort((a, b) => a.order - b.order);
  const inGroups = groups.flatMap((name) => written.filter(({ group }) => group === name));
  return [...inGroups, ...workflowsOf(contract, project)];
}

/** Their places are 10, 20, 30 and so on, so that files can come between them. */
function sections({ info }: Contract, project: string): Placed[] {
  const {
    about = {},
    synonyms = {},
    slugs = {},
  } = read<Partial<Record<string, string>>>(project, introduction);
  const texts = info.description.split(/^(?=# )/m).filter((text) => text.startsWith('# '));
  return texts.map((markdown, index) => {
    const label = titleOf(markdown);
    const name = slugs[slug(label)] ?? slug(label);
    const own = about[name];
    if (own === undefined)
      throw new Error(`Say in the first lines of ${introduction}, below \`about:\`, what ${name} is about.`);
    const order = 10 * (index + 1);
    return { slug: name, label, about: own, group: 'Guides', file: introduction, markdown, synonyms, order };
  });
}

function files(project: string): Placed[] {
  const markdownIn = (folder: string) =>
    readdirSync(join(project, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`);
  return [...markdownIn('docs/guides'), ...markdownIn('docs'), 'CHANGELOG.md'].flatMap((file): Placed[] => {
    const { group, order, about, synonyms = {}, markdown, ...more } = read<string>(project, file);
    const { slug = basename(file, '.md').toLowerCase() } = more;
    if (group && groups.includes(group) && order !== undefined && about !== undefined)
      return [{ slug, label: titleOf(markdown), about, group, file, markdown, synonyms, order }];
    if (group === undefined && !file.startsWith('docs/guides/')) return [];
    throw new Error(
      `Say in the first lines of ${file} where the docs show it: \`group\` (${groups.join(', ')}), \`order\` and \`about\`.`,
    );
  });
}

/** An API may have none. */
export const workflowFiles = (ending: string, project = root): string[] =>
  existsSync(join(project, 'docs/workflows'))
    ? filesIn(project, 'docs/workflows').filter((file) => file.endsWith(ending))
    : [];

const workflowsOf = (contract: Contract, project: string): Guide[] =>
  workflowFiles('.arazzo.yaml', project).flatMap((file) => {
    const { workflows } = parse(readFileSync(join(project, file), 'utf8')) as { workflows: Workflow[] };
    return workflows.map((workflow): Guide => ({
      slug: workflow.workflowId,
      label: workflow.summary,
      about: workflow.description,
      group: 'Workflows',
      file,
      markdown: workflowPage(contract, workflow),
      synonyms: {},
    }));
  });

/** The text before the first heading of the introduction. */
export const preface = ({ info }: Contract): string => info.description.split(/^# /m)[0]?.trim() ?? '';

function read<About>(project: string, file: string): FrontMatter<About> & { markdown: string } {
  const [, yaml = '', markdown = ''] = frontMatter.exec(readFileSync(join(project, file), 'utf8')) ?? [];
  return { ...(parse(yaml) as FrontMatter<About> | null), markdown };
}

const frontMatter = /^(?:---\n([\s\S]*?)\n---\n+)?([\s\S]*)/;

const titleOf = (markdown: string) => /^# (.+)/m.exec(markdown)?.[1] ?? '';
