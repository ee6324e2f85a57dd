// What the search of the docs finds: the sections of guides, and every operation, event, parameter and field.
import { slug } from 'github-slugger';
import type { Entry } from './browser/search.ts';
import { itemsOf, type Contract } from './contract.ts';
import type { Field } from './fields.ts';
import type { Group, Guide } from './guides.ts';
import { itemId, plain, type Rendered } from './markdown.ts';
import { sectionsOf } from './operation-page.ts';

/** Those who integrate search most. */
const weights = {
  Guides: 4,
  operation: 3,
  field: 2,
  Workflows: 2,
  event: 1,
  Build: 2,
  Operate: 2,
  Contribute: 2,
};

const marks: Partial<Record<Group, string>> = { Operate: 'For operators', Contribute: 'For contributors' };

/** The changelog mentions everything, and explains nothing. */
const markOf = ({ slug, group }: Guide) => (slug === 'changelog' ? 'History' : marks[group]);

type Page = Rendered & { guide: Guide };

export function guideEntries(pages: Page[]): Entry[] {
  const synonyms = new Map(pages.flatMap(({ guide }) => Object.entries(guide.synonyms)));
  const entries = pages.flatMap(({ guide, title, sections }) =>
    sections.map(({ id, heading, text }) => {
      const isTop = !heading || heading === title;
      const key = isTop ? guide.slug : `${guide.slug}#${id}`;
      const keywords = synonyms.get(key);
      synonyms.delete(key);
      const href = `guides/${key.replace(/(#|$)/, '.html$1')}`;
      return {
        title: heading || title,
        place: isTop ? 'Guide' : title,
        href,
        text,
        keywords,
        weight: guide.slug === 'changelog' ? 0.05 : weights[guide.group],
        mark: markOf(guide),
      };
    }),
  );
  if (synonyms.size > 0)
    throw new Error(`Synonyms for what is no section: ${[...synonyms.keys()].join(', ')}`);
  return entries;
}

/** `contract` is that for readers. Guides explain errors and the headers of responses. */
export const referenceEntries = (contract: Contract): Entry[] =>
  itemsOf(contract).flatMap((item) => {
    const { path, method, operation, isEvent, page } = item;
    const { summary, description = '', operationId } = operation;
    const found = sectionsOf(contract, item)
      .filter(({ heading }) => !/^### [^2]|^## Response headers/.test(heading))
      .flatMap(({ heading, fields }) => flatten(fields, slug(plain(heading))));
    return [
      {
        title: summary,
        place: isEvent ? path : `${method} ${path}`,
        href: page,
        text: plain(`${operationId} ${description}`),
        // Readers write `payment_method.created` too.
        keywords: path.includes('-') && isEvent ? path.replaceAll('-', '_') : undefined,
        weight: isEvent ? weights.event : weights.operation,
      },
      ...found.map(({ id, name, description: text }) => ({
        title: name,
        place: summary,
        href: `${page}#${id}`,
        text: plain(text),
        weight: isEvent ? weights.event / 2 : weights.field,
      })),
    ];
  });

const flatten = (fields: Field[], parent: string): (Field & { id: string })[] =>
  fields.flatMap((field) => {
    const id = field.isKind ? parent : itemId(parent, field.name);
    return [...(field.isKind ? [] : [{ ...field, id }]), ...flatten(field.fields, id)];
  });
