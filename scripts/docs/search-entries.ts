// What the search of the docs finds: the sections of guides, and of the reference every operation, event, parameter and property.
import { resolve } from '../../server/contract/load.ts';
import type { Entry } from './browser/search.ts';
import { itemsOf, type Contract, type Operation, type Schema } from './contract.ts';
import type { Guide } from './guides.ts';
import { plain, type Rendered } from './markdown.ts';
import { sampleLanguages } from './samples.ts';

/** Those who integrate search most. */
const weights = {
  Guides: 4,
  operation: 3,
  field: 1.5,
  event: 1,
  Build: 2,
  Operate: 2,
  Contribute: 2,
};

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
        weight: weightOf(guide),
      };
    }),
  );
  if (synonyms.size > 0)
    throw new Error(`Synonyms for what is no section: ${[...synonyms.keys()].join(', ')}`);
  return entries;
}

/** The changelog mentions everything, and explains nothing. */
const weightOf = ({ slug, group }: Guide) => (slug === 'changelog' ? 0.05 : weights[group]);

export const referenceEntries = (contract: Contract): Entry[] =>
  itemsOf(contract).flatMap(({ path, method, operation, isEvent, href }) => {
    const { summary, description = '', operationId } = operation;
    return [
      {
        title: summary,
        place: isEvent ? path : `${method} ${path}`,
        href,
        text: plain(
          `${operationId} ${description}${isEvent ? '' : ` Samples: ${sampleLanguages.join(', ')}.`}`,
        ),
        // Readers write `payment_method.created` too.
        keywords: path.includes('-') && isEvent ? path.replaceAll('-', '_') : undefined,
        weight: isEvent ? weights.event : weights.operation,
      },
      ...fields(contract, operation, `${href}${href.replace('reference.html#/', '#')}/`).map((field) => ({
        ...field,
        text: plain(field.text),
        place: summary,
        weight: weights.field,
      })),
    ];
  });

type Field = Pick<Entry, 'title' | 'href' | 'text'>;

/** The addresses are those of Redoc; a test opens some of them. */
function fields(contract: Contract, operation: Operation, href: string): Field[] {
  const { parameters = [], requestBody, responses = {} } = operation;
  const given = parameters.map((one) => {
    const { name, in: where, description = '' } = resolve(contract, one);
    const place = where === 'header' ? 'headers' : where;
    return {
      title: name,
      href: `${href}t=request&in=${place}&path=${name.toLowerCase()}`,
      text: description,
    };
  });
  const [status = '', success] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const schemaOf = (body: typeof success) => resolve(contract, body)?.content?.['application/json']?.schema;
  return [
    ...given,
    ...properties(contract, schemaOf(requestBody), `${href}t=request&path=`),
    ...properties(contract, schemaOf(success), `${href}t=response&c=${status}&path=`),
  ];
}

/** Of a list also those of its items. */
function properties(contract: Contract, given: Schema | undefined, href: string, prefix = ''): Field[] {
  const schema = resolve(contract, given);
  return Object.entries(schema?.properties ?? {}).flatMap(([name, value]) => {
    const property = resolve(contract, value);
    const description = value.description ?? property.description ?? '';
    const items =
      prefix === '' && property.items ? properties(contract, property.items, href, `${name}[]/`) : [];
    return [{ title: name, href: `${href}${prefix}${name}`, text: description }, ...items];
  });
}
