// What the search of the docs finds: the sections of guides, and of the reference every operation, event, parameter and property.
import type { Entry } from './browser/entry.ts';
import type { Contract, Operation, Schema } from './contract.ts';
import type { Guide } from './guides.ts';
import { addresses } from './links.ts';
import { plain, type Rendered } from './markdown.ts';
import { sampleLanguages } from './samples.ts';

/** Those who integrate search most, and those who build or run the service know where their guide is. */
const weights = {
  Guides: 4,
  operation: 3,
  field: 1.5,
  event: 1,
  Build: 1,
  Operate: 0.3,
  Contribute: 0.2,
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

export function referenceEntries(contract: Contract): Entry[] {
  const found = addresses(contract);
  const entries = [contract.paths, contract.webhooks].flatMap((items) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) => {
        const hash = found[`#operation/${operation.operationId.toLowerCase()}`] ?? '';
        const href = `reference.html${hash}`;
        const isEvent = items === contract.webhooks;
        const { summary, description = '', operationId } = operation;
        return [
          {
            title: summary,
            place: isEvent ? path : `${method.toUpperCase()} ${path}`,
            href,
            text: `${operationId} ${description}${isEvent ? '' : ` Samples: ${sampleLanguages.join(', ')}.`}`,
            // Readers write `payment_method.created` too.
            keywords: path.includes('-') && isEvent ? path.replaceAll('-', '_') : undefined,
            weight: isEvent ? weights.event : weights.operation,
          },
          ...fields(contract, operation, `${href}#${hash.slice(2)}/`).map((field) => ({
            ...field,
            place: summary,
            weight: weights.field,
          })),
        ];
      }),
    ),
  );
  return entries.map((entry) => ({ ...entry, text: plain(entry.text) }));
}

type Field = Pick<Entry, 'title' | 'href' | 'text'>;

/** The addresses are those of Redoc; a test opens some of them. */
function fields(
  contract: Contract,
  { parameters = [], requestBody, responses }: Operation,
  href: string,
): Field[] {
  const given = parameters.map((one) => {
    const { name, in: where, description = '' } = resolve(contract, one) as Parameter;
    const place = where === 'header' ? 'headers' : where;
    return {
      title: name,
      href: `${href}t=request&in=${place}&path=${name.toLowerCase()}`,
      text: description,
    };
  });
  const body = (resolve(contract, requestBody) as Body | undefined)?.content?.['application/json']?.schema;
  const [status, success] = Object.entries(responses ?? {}).find(([code]) => code.startsWith('2')) ?? [];
  const answer = (resolve(contract, success) as Body | undefined)?.content?.['application/json']?.schema;
  return [
    ...given,
    ...properties(contract, body, `${href}t=request&path=`),
    ...properties(contract, answer, `${href}t=response&c=${status ?? ''}&path=`),
  ];
}

interface Parameter {
  name: string;
  in: string;
  description?: string;
}
interface Body {
  content?: Record<string, { schema?: Schema }>;
}

/** Of a list also those of its items. */
function properties(contract: Contract, given: Schema | undefined, href: string, prefix = ''): Field[] {
  const schema = resolve(contract, given) as Schema | undefined;
  return Object.entries(schema?.properties ?? {}).flatMap(([name, value]) => {
    const property = resolve(contract, value) as Schema;
    const description = value.description ?? property.description ?? '';
    const items =
      prefix === '' && property.items ? properties(contract, property.items, href, `${name}[]/`) : [];
    return [{ title: name, href: `${href}${prefix}${name}`, text: description }, ...items];
  });
}

function resolve(contract: Contract, value: unknown): unknown {
  const { $ref } = (value ?? {}) as { $ref?: string };
  if ($ref === undefined) return value;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key.replaceAll('~1', '/')], contract);
  return resolve(contract, target);
}
