// What the search of the docs finds: the sections of guides, and of the reference every operation, event, parameter and property.
import type { Entry } from './browser/entry.ts';
import type { Contract, Operation, Schema } from './contract.ts';
import { addresses } from './links.ts';
import type { Rendered } from './markdown.ts';

export const guideEntries = (path: string, { title, sections }: Rendered): Entry[] =>
  sections.map(({ id, heading, text }) => ({
    title: heading || title,
    place: heading && heading !== title ? title : 'Guide',
    href: id && heading !== title ? `${path}#${id}` : path,
    text,
  }));

export function referenceEntries(contract: Contract): Entry[] {
  const found = addresses(contract);
  const entries = [contract.paths, contract.webhooks].flatMap((items) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) => {
        const hash = found[`#operation/${operation.operationId.toLowerCase()}`] ?? '';
        const href = `reference.html${hash}`;
        const name = items === contract.webhooks ? path : `${method.toUpperCase()} ${path}`;
        const { summary, description = '', operationId } = operation;
        return [
          { title: summary, place: name, href, text: `${operationId} ${description}` },
          ...fields(contract, operation, `${href}#${hash.slice(2)}/`).map((field) => ({
            ...field,
            place: summary,
          })),
        ];
      }),
    ),
  );
  return entries.map((entry) => ({ ...entry, text: plain(entry.text) }));
}

/** Without the signs of Markdown. */
const plain = (markdown: string) =>
  markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');

type Field = Omit<Entry, 'place'>;

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
