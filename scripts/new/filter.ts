// `npm run new -- filter country`: a filter of GET /transactions by a property that transactions show, in the contract, the
// service, the mock and the test that compares them, with its index. What it means follows from the property's type.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { addLine, migrationFile } from './code-text.ts';
import { append, todo } from './contract-text.ts';
import { mustMatch, pascal } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, isNullable, readSchema, resolved, type Project, type Schema } from './project.ts';

interface Kind {
  /** The parameter below its description. */
  schema: string;
  description: string;
  service: string;
  mock: string;
  values: string;
  index: string;
  /** Whether it takes several values, each of which must be one that the schema allows. */
  isList?: boolean;
}

const newest = 'created_at desc, id desc';
const freeText = 'schema:\n  $ref: ../schemas/FreeText.yaml\n';

/** Undefined for what has no obvious filter, such as an amount or an object. */
function kindOf(name: string, property: Schema): Kind | undefined {
  const [known] = [property, ...(property.anyOf ?? [])].flatMap(({ $ref }) => $ref ?? []);
  const isType = (type: string) => [property.type ?? []].flat().includes(type);
  const index = (column = name) =>
    `(merchant_account_id, ${column}, ${newest})${isNullable(property) ? ` where ${name} is not null` : ''}`;
  if (known !== undefined)
    return {
      schema: `style: form\nexplode: true\nschema:\n  type: array\n  minItems: 1\n  maxItems: 100\n  items:\n    $ref: ../schemas/${known.replace('./', '')}\n`,
      description: `Only transactions with one of these values of \`${name}\`. Repeat the parameter for several.`,
      service: `(values) => oneOf('${name}', 'text', values)`,
      mock: `({ ${name} }, wanted) => isOneOf(${name}, wanted)`,
      values: `several(({ ${name} }) => [${name}], 'unicorn')`,
      index: index(),
      isList: true,
    };
  if (isType('boolean'))
    return {
      schema: 'schema:\n  type: boolean\n',
      description: `Only transactions with this value of \`${name}\`.`,
      service: `(value) => flag('${name}', value)`,
      mock: `({ ${name} }, wanted) => ${name} === wanted`,
      values: 'flag',
      index: `(merchant_account_id, ${newest}) where ${name}`,
    };
  if (!isType('string')) return undefined;
  if (property.format === 'uuid')
    return {
      schema: freeText,
      description: `Only transactions with this \`${name}\`. A value that is not a UUID matches nothing.`,
      service: `(value) => identifier(uuidIs('${name}', value))`,
      mock: `({ ${name} }, wanted) => isSameId(${name}, wanted)`,
      values: `ids(({ ${name} }) => [${name}])`,
      index: index(),
    };
  return {
    schema: freeText,
    description: `Only transactions with exactly this \`${name}\`.`,
    service: `(value) => identifier(textIs('${name}', value))`,
    mock: `({ ${name} }, wanted) => ${name} === wanted`,
    values: `texts(({ ${name} }) => [${name}])`,
    // Index entries are limited to 2,704 bytes, and filters to 200 characters.
    index: index(`left(${name}, 201)`),
  };
}

/** Schemas that are objects or numbers have no obvious filter. */
async function isText(project: Project, property: Schema): Promise<boolean> {
  const [known] = [property, ...(property.anyOf ?? [])].flatMap(({ $ref }) => $ref ?? []);
  if (known === undefined) return true;
  const { type, format } = await resolved(project, property);
  return type === 'string' && format === undefined;
}

interface Example {
  value?: { $ref?: string; type?: unknown } & Record<string, unknown>;
}

const examples = 'openapi/components/examples';

/**
 * What the examples of transactions have as this property. They are made from each other, so each value is written in one of
 * them.
 */
async function shownValues(project: Project, name: string): Promise<unknown[]> {
  const files = (await readdir(join(project.root, examples))).filter((file) =>
    file.startsWith('Transaction'),
  );
  const values = new Set<unknown>();
  for (const file of files) {
    const { value = {} } = (await project.read(`${examples}/${file}`)) as Example;
    const isTransaction = value.type === 'transaction' || value.$ref?.startsWith('./Transaction');
    if (isTransaction && (value[name] ?? null) !== null) values.add(value[name]);
  }
  return [...values];
}

/** With a single value, whoever compares mock and service cannot tell whether the filter works. */
async function moreExamples(project: Project, name: string, kind: Kind): Promise<string[]> {
  const shown = kind.isList ? await shownValues(project, name) : [];
  return shown.length === 1
    ? [
        `All examples of transactions have ${name}=${String(shown[0])}: give one of ${examples}/Transaction*.yaml another value, or parity.filters fails`,
      ]
    : [];
}

/** Properties of a transaction that have no filter yet, and whose filter follows from their type. */
export async function offeredFilters(project: Project): Promise<Record<string, Schema>> {
  const { properties = {} } = await readSchema(project, 'Transaction');
  const offered: Record<string, Schema> = {};
  for (const [name, property] of Object.entries(properties))
    if (
      // Callers choose the merchant account with a header.
      name !== 'merchant_account_id' &&
      property.const === undefined &&
      kindOf(name, property) &&
      (await isText(project, property)) &&
      !(await project.has(component('parameters', `${pascal(name)}Filter`)))
    )
      offered[name] = property;
  return offered;
}

export async function newFilter(project: Project, name: string): Promise<Plan> {
  mustMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, name, 'A filter is in snake_case: filter country');
  const parameter = component('parameters', `${pascal(name)}Filter`);
  if (await project.has(parameter)) throw new Refusal(`The filter ${name} exists already: ${parameter}`);
  const offered = await offeredFilters(project);
  const kind = kindOf(name, offered[name] ?? {});
  if (!kind)
    throw new Refusal(
      `Transactions have no property "${name}" that can be filtered by its value. These have no filter yet: ${Object.keys(offered).join(', ')}. Other filters are written by hand: docs/guides/backend-engineer.md`,
    );
  return {
    write: {
      [parameter]: `name: ${name}\nin: query\ndescription: ${kind.description}${todo('say what it is for')}\n${kind.schema}`,
      [await migrationFile(project, `filter_by_${name}`)]:
        `import { buildIndex, type Online } from '../online.ts';

export const online = (steps: Online): Promise<void> =>
  buildIndex(steps, {
    name: 'transactions_${name}',
    table: 'transactions',
    on: '${kind.index}',
  });
`,
    },
    edit: {
      'openapi/paths/transactions.yaml': append(
        ['get', 'parameters'],
        `    - $ref: ../components/parameters/${pascal(name)}Filter.yaml\n`,
      ),
      'server/store/transaction-filters.ts': addLine('const filters', `${name}: ${kind.service}`),
      'mock/outcomes/transaction-filters.ts': addLine('const filters', `${name}: ${kind.mock}`),
      'test/service/mock/parity.filters.values.ts': addLine('export const values', `${name}: ${kind.values}`),
    },
    next: [
      `Describe it for readers: ${parameter}`,
      ...(await moreExamples(project, name, kind)),
      `Check that it finds what it should, by an index: npm test -- transaction-filters transaction-plans parity.filters`,
      `Announce it: info.version, and \`${name}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
}
