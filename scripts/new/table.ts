// `npm run new -- table refund_reasons`: the table of a resource, with a column for each property, and the code between it and the
// operations that the contract has. Its records belong to merchant accounts: docs/decisions/0018-account-first.md.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addFacts, factsFile, inSql, migrationFile } from './code-text.ts';
import { kebab, mustMatch, pascal, plural, singular, spoken } from './names.ts';
import { formattedPlan, Refusal, type Plan } from './plan.ts';
import {
  component,
  isNullable,
  operationsIn,
  readSchema,
  resolved,
  type Project,
  type Schema,
} from './project.ts';
import { filled, type Values } from './template.ts';

interface Column {
  name: string;
  /** As server/resources names it. */
  type: string;
  isNull: boolean;
  /** One of the contract's values, or a currency, which say nothing about a buyer. */
  isImpersonal?: boolean;
}

async function columnOf(project: Project, name: string, property: Schema): Promise<Column> {
  const { type, format, enum: values } = await resolved(project, property);
  const kind = [type].flat().find((one) => one !== 'null') ?? '';
  const types: Partial<Record<string, string>> = {
    boolean: 'boolean',
    integer: format === 'int64' ? 'bigint' : 'integer',
    string: format === 'uuid' ? 'uuid' : format === 'date-time' ? 'timestamptz' : 'text',
  };
  const isCurrency = [property, ...(property.anyOf ?? [])].some(({ $ref }) => $ref === './CurrencyCode.yaml');
  return {
    name,
    type: types[kind] ?? 'jsonb',
    isNull: isNullable(property),
    isImpersonal: values !== undefined || isCurrency,
  };
}

/** The columns that show the resource. */
async function shownColumns(project: Project, resource: string): Promise<Column[]> {
  const { properties = {} } = await readSchema(project, resource);
  const stored = Object.entries(properties).filter(([name]) => name !== 'type');
  return Promise.all(stored.map(([name, property]) => columnOf(project, name, property)));
}

/** What every table has, also where the resource does not show it, and its type in TypeScript. */
const own: (Column & { member: string })[] = [
  { name: 'merchant_account_id', type: 'text', isNull: false, member: 'string' },
  { name: 'id', type: 'uuid', isNull: false, member: 'Generated<string>' },
  { name: 'created_at', type: 'timestamptz', isNull: false, member: 'Stamp' },
];

const endings: Partial<Record<string, string>> = {
  merchant_account_id: ' references merchant_accounts',
  id: ' default gen_random_uuid()',
  created_at: ' default now()',
  updated_at: ' default now()',
};

const definition = ({ name, type, isNull }: Column) =>
  `${name} ${inSql(type)}${isNull ? '' : ' not null'}${endings[name] ?? ''}`;

interface Operation {
  kind: 'create' | 'get' | 'list' | 'update' | 'delete';
  id: string;
  /** Of the path. */
  parameter: string;
}

/** Those on the collection of the table and on one record of it. */
async function operationsOn(project: Project, table: string): Promise<Operation[]> {
  const path = new RegExp(`^openapi/paths/${kebab(table)}(?:_\\{(\\w+)\\})?\\.yaml$`);
  const kinds: Partial<Record<string, Operation['kind']>> = {
    post: 'create',
    patch: 'update',
    put: 'update',
    delete: 'delete',
  };
  return (await operationsIn(project)).flatMap(({ file, method, operationId: id }) => {
    const found = path.exec(file);
    const [, parameter = ''] = found ?? [];
    return found ? { kind: kinds[method] ?? (parameter === '' ? 'list' : 'get'), id, parameter } : [];
  });
}

const isStub = (text: string) => text.includes('\n// A stub: ');

/** Those that are erased, of `--erasure display_name=erased,colour=kept`: each column that can hold text, but not the impersonal ones. */
function erasedOf(texts: string[], erasure = ''): string[] {
  const fates = new Map(
    erasure.split(',').flatMap((one) => (one === '' ? [] : [one.split('=') as [string, string]])),
  );
  const wrong = [...fates].find(([name, fate]) => !texts.includes(name) || !/^(kept|erased)$/.test(fate));
  const missing = texts.filter((name) => !fates.has(name));
  const stranger = wrong && !texts.includes(wrong[0]) ? `${wrong[0]} is no column that can hold text. ` : '';
  if (wrong || missing.length > 0)
    throw new Refusal(
      `${stranger}Decide for each of ${texts.join(', ') || 'its columns (none can hold text)'} what happens to it when a buyer is erased: --erasure ${texts.map((name) => `${name}=erased`).join(',')} if it may say something about a buyer, =kept if not. See docs/guides/personal-data.md`,
    );
  return texts.filter((name) => fates.get(name) === 'erased');
}

export async function newTable(
  project: Project,
  table: string,
  { erasure }: { erasure?: string | undefined },
): Promise<Plan> {
  mustMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, table, 'A table is in snake_case: table refund_reasons');
  const one = singular(table);
  if (plural(one) !== table)
    throw new Refusal(`A table is named after its records, in the plural: table ${plural(one)}`);
  const listed = await readFile(join(project.root, factsFile), 'utf8');
  if (new RegExp(`^  ${table}[:,]`, 'm').test(listed))
    throw new Refusal(`The table ${table} exists already: ${factsFile} has it.`);
  const resource = pascal(one);
  if (!(await project.has(component('schemas', resource))))
    throw new Refusal(
      `There is no schema ${resource}. Write it first: npm run new -- operation POST /${kebab(table)}`,
    );
  const shown = await shownColumns(project, resource);
  const more = own.filter(({ name }) => !shown.some((column) => column.name === name));
  const texts = shown.filter(
    ({ name, type, isImpersonal }) =>
      /^(text|jsonb)$/.test(type) && !isImpersonal && name !== 'merchant_account_id',
  );
  const namesOf = (columns: Column[]) => columns.map(({ name }) => name);
  const erased = erasedOf(namesOf(texts), erasure);
  const operations = await operationsOn(project, table);
  const does = (kind: Operation['kind']) => operations.some((operation) => operation.kind === kind);
  const tells = (happened: string) => project.has(`openapi/webhooks/${kebab(one)}.${happened}.yaml`);
  const events = {
    created: await tells('created'),
    updated: does('update') && (await tells('updated')),
    deleted: does('delete') && (await tells('deleted')),
  };
  const uses = (type: string) => more.some(({ member }) => member.startsWith(type));
  const names = namesOf([...more, ...shown]);
  const rules = names.map((name) => `${name}: '${erased.includes(name) ? 'erased' : 'kept'}'`);
  const facts = `${pascal(table).charAt(0).toLowerCase()}${pascal(table).slice(1)}`;
  const values: Values = {
    table,
    facts,
    rules: rules.join(', '),
    // An erasure finds rows by these, so the compiler wants to know about each column.
    erases: erased.length > 0 || names.includes('buyer_id') || names.includes('resource_id'),
    Table: pascal(table),
    tables: kebab(table),
    Resource: resource,
    resource: `${resource.charAt(0).toLowerCase()}${resource.slice(1)}`,
    file: kebab(one),
    event: kebab(one),
    spoken: spoken(one),
    columns: [...more, ...shown].map(definition).join(',\n      '),
    shownColumns: shown.map(({ name, type }) => `${name}: '${type}',`).join('\n  '),
    defaults:
      shown
        .filter(({ name }) => / default /.test(endings[name] ?? ''))
        .map(({ name }) => `'${name}'`)
        .join(' | ') || 'never',
    adds: more.length > 0,
    members: more.map(({ name, member }) => `${name}: ${member};`).join('\n  '),
    kyselyTypes: [...(uses('Generated') ? ['Generated'] : []), 'Selectable'].join(', '),
    columnTypes: ['Shown', 'ShownColumns', ...(uses('Stamp') ? ['Stamp'] : [])]
      .map((name) => `type ${name}`)
      .join(', '),
    update: does('update'),
    delete: does('delete'),
    ...events,
    publishes: Object.values(events).includes(true),
    isSilent: !events.created || (does('update') && !events.updated) || (does('delete') && !events.deleted),
  };
  const created = await migrationFile(project, table);
  const plan: Plan = { write: { [created]: filled('migration.ts', values) }, edit: {}, next: [] };
  // Whoever has written one of these first keeps it; a stub is no work of theirs.
  const files: [file: string, text: string][] = [
    ...['table', 'facts', 'queries', 'changes'].map((name): [string, string] => [
      `server/resources/${kebab(table)}/${name}.ts`,
      filled(`${name}.ts`, values),
    ]),
    ...operations.map(({ kind, id, parameter }): [string, string] => [
      `server/handlers/${kebab(id)}.ts`,
      filled(`handler-${kind}.ts`, { ...values, id, parameter }),
    ]),
  ];
  for (const [file, text] of files)
    if (!(await project.has(file))) plan.write[file] = text;
    else if (isStub(await readFile(join(project.root, file), 'utf8'))) plan.edit[file] = () => text;
  plan.edit[factsFile] = addFacts(table, facts, kebab(table));
  plan.next = [
    `Look over the columns, and add keys to other tables, before the migration is applied: ${created}`,
    ...(erased.length > 0
      ? [
          `Give ${erased.join(', ')} a value in test/service/erasure.test.ts, which fails until there is something to erase; the row is found by its buyer_id: docs/guides/backend-engineer.md, "A record that belongs to another"`,
          'Add them to the list in docs/guides/personal-data.md',
        ]
      : []),
    'Check the types and the database: npm run lint -- --types && npm test -- erasure facts account-keys',
  ];
  return formattedPlan(plan);
}
