// `npm run new -- table refund_reasons`: the table of a resource, with a column for each property, or one that the API does not
// show. Its records belong to merchant accounts: docs/decisions/0018-account-first.md.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { columnLists, listColumn, migrationFile } from './code-text.ts';
import { kebab, mustMatch, pascal, plural, singular } from './names.ts';
import { formattedPlan, Refusal, type Plan } from './plan.ts';
import { component, isNullable, readSchema, resolved, type Project, type Schema } from './project.ts';

interface Column {
  name: string;
  /** As server/store/tables names it. */
  type: string;
  isNull: boolean;
  /** One of the values of the contract, which say nothing about a buyer. */
  isEnum?: boolean;
}

async function columnOf(project: Project, name: string, property: Schema): Promise<Column> {
  const { type, format, enum: values } = await resolved(project, property);
  const kind = [type].flat().find((one) => one !== 'null') ?? '';
  const types: Partial<Record<string, string>> = {
    boolean: 'boolean',
    integer: format === 'int64' ? 'bigint' : 'integer',
    string: format === 'uuid' ? 'uuid' : format === 'date-time' ? 'timestamptz' : 'text',
  };
  return { name, type: types[kind] ?? 'jsonb', isNull: isNullable(property), isEnum: values !== undefined };
}

/** The columns that show the resource; undefined if the contract has none of that name. */
async function shownColumns(project: Project, resource: string): Promise<Column[] | undefined> {
  if (!(await project.has(component('schemas', resource)))) return undefined;
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

function migration(table: string, columns: Column[]): string {
  const lines = columns.map(({ name, type, isNull }) => {
    const sql = type === 'timestamptz' ? 'timestamptz(3)' : type;
    return `${name} ${sql}${isNull ? '' : ' not null'}${endings[name] ?? ''}`;
  });
  const parts = [...lines, 'primary key (merchant_account_id, id)', 'unique (id)'];
  return `import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`
    create table ${table} (
      ${parts.join(',\n      ')}
    )\`.execute(db);
  // For lists of one merchant account, and of all.
  await sql\`create index ${table}_newest on ${table} (merchant_account_id, created_at desc, id desc)\`.execute(db);
  await sql\`create index ${table}_everywhere on ${table} (created_at desc, id desc)\`.execute(db);
}
`;
}

/** The file of server/store/tables. */
function tableText(table: string, resource: string, shown: Column[] | undefined, more: typeof own): string {
  const members = more.map(({ name, member }) => `  ${name}: ${member};\n`).join('');
  const uses = (type: string) => more.some(({ member }) => member.startsWith(type));
  const generated = uses('Generated') ? `import type { Generated } from 'kysely';\n` : '';
  const types = [...(shown ? ['Shown', 'ShownColumns'] : []), ...(uses('Stamp') ? ['Stamp'] : [])];
  const columnTypes = `import type { ${types.join(', ')} } from './columns.ts';\n`;
  if (!shown) return `${generated}${columnTypes}\nexport interface ${pascal(table)}Table {\n${members}}\n`;
  const list = `${resource.charAt(0).toLowerCase()}${resource.slice(1)}Columns`;
  const defaults = shown.filter(({ name }) => / default /.test(endings[name] ?? ''));
  return `${generated}import type { components } from '../../../generated/types.ts';
${columnTypes}
type ${resource} = components['schemas']['${resource}'];

export const ${list} = {
${shown.map(({ name, type }) => `  ${name}: '${type}',\n`).join('')}} as const satisfies Shown<${resource}, 'type'>;

/** The database makes what is named last, if it is left out. */
type Columns = ShownColumns<typeof ${list}, ${resource}, ${defaults.map(({ name }) => `'${name}'`).join(' | ') || 'never'}>;

${members === '' ? `export type ${pascal(table)}Table = Columns;` : `export interface ${pascal(table)}Table extends Columns {\n${members}}`}
`;
}

const plainInsert = (
  table: string,
  resource: string,
) => `export const insert${resource} = (db: Tx, given: New${resource}) =>
  db.insertInto('${table}').values(given).returningAll().executeTakeFirstOrThrow();
`;

const announcedInsert = (table: string, resource: string) => `export async function insert${resource}(
  db: Tx,
  given: New${resource},
  { tell }: Announcement<${resource}Row>,
): Promise<${resource}Row> {
  const row = await db.insertInto('${table}').values(given).returningAll().executeTakeFirstOrThrow();
  await tell?.(row);
  return row;
}
`;

const store = (
  table: string,
  resource: string,
  hasEvent: boolean,
) => `import type { Insertable, Selectable } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
${hasEvent ? "import type { Announcement } from './announcement.ts';\n" : ''}import type { Db, Tx } from './database.ts';
import { fetchPage, type PageRequest } from './paging.ts';
import type { ${pascal(table)}Table } from './tables/${kebab(table)}.ts';

export type ${resource}Row = Selectable<${pascal(table)}Table>;
export type New${resource} = Insertable<${pascal(table)}Table>;

${hasEvent ? announcedInsert(table, resource) : plainInsert(table, resource)}
export const find${resource} = (db: Db, account: string, id: string) =>
  db
    .selectFrom('${table}')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirst();

/** Of these accounts; if undefined, of all. */
export function list${resource}Page(db: Db, accounts: readonly string[] | undefined, page: PageRequest) {
  const all = db.selectFrom('${table}').selectAll('${table}');
  const chosen =
    accounts === undefined
      ? all.modifyEnd(acrossAccounts('newest-everywhere'))
      : all.where('merchant_account_id', 'in', accounts);
  return fetchPage(chosen, '${table}', page);
}
`;

const listTable = (table: string) => (text: string) =>
  text
    .replace('\n\nexport', `\nimport type { ${pascal(table)}Table } from './${kebab(table)}.ts';\n\nexport`)
    .replace(/\n\}\n$/, `\n  ${table}: ${pascal(table)}Table;\n}\n`);

const list = 'server/store/tables/index.ts';

export async function newTable(
  project: Project,
  table: string,
  { erasure }: { erasure?: string | undefined },
): Promise<Plan> {
  mustMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, table, 'A table is in snake_case: table refund_reasons');
  const one = singular(table);
  if (plural(one) !== table)
    throw new Refusal(`A table is named after its records, in the plural: table ${plural(one)}`);
  if (new RegExp(`^  ${table}: `, 'm').test(await readFile(join(project.root, list), 'utf8')))
    throw new Refusal(`The table ${table} exists already: ${list} has it.`);
  const resource = pascal(one);
  const shown = await shownColumns(project, resource);
  const more = own.filter(({ name }) => !shown?.some((column) => column.name === name));
  const listed = (shown ?? []).filter(
    ({ name, type }) => /^(text|jsonb)$/.test(type) && name !== 'merchant_account_id',
  );
  const namesOf = (columns: Column[]) => columns.map(({ name }) => name);
  const enums = namesOf(listed.filter(({ isEnum }) => isEnum));
  const texts = namesOf(listed.filter(({ isEnum }) => !isEnum));
  if (texts.length > 0 && erasure !== 'kept' && erasure !== 'erased')
    throw new Refusal(
      `Decide what happens to ${texts.join(', ')} when a buyer is erased: add --erasure erased if it may say something about a buyer, --erasure kept if not. See docs/guides/personal-data.md`,
    );
  const [created, described] = [
    await migrationFile(project, table),
    `server/store/tables/${kebab(table)}.ts`,
  ];
  const recipe = (heading: string) => `docs/guides/backend-engineer.md, "${heading}"`;
  const write: Plan['write'] = { [created]: migration(table, [...more, ...(shown ?? [])]) };
  const event = `${kebab(one)}.created`;
  const hasEvent = await project.has(`openapi/webhooks/${event}.yaml`);
  // Whoever has written a statement on the table first keeps it.
  for (const [file, text] of [
    [described, tableText(table, resource, shown, more)],
    [`server/store/${kebab(table)}.ts`, store(table, resource, hasEvent)],
  ] as const)
    if (!(await project.has(file))) write[file] = text;
  return formattedPlan({
    write,
    edit: {
      [list]: listTable(table),
      'scripts/citus.sql': (text) => text.replace('\n]) with', `,\n  '${table}'\n]) with`),
      ...(listed.length > 0 && {
        [columnLists]: (text) =>
          listColumn(erasure === 'erased', table, ...texts)(listColumn(false, table, ...enums)(text)),
      }),
    },
    next: [
      shown
        ? `Look over the columns, and add keys to other tables, before the migration is applied: ${created}`
        : `Add its columns to ${created} and ${described}, and those that can hold text to ${columnLists}. If the API shall show it, undo this and write its schema first: npm run new -- operation POST /${kebab(table)}`,
      ...(erasure === 'erased' && texts.length > 0
        ? [
            `Erase ${texts.join(', ')} with the buyer; test/service/erasure.test.ts fails until then: ${recipe('A record that belongs to another')}`,
          ]
        : []),
      `Write its action${shown ? ' and its presenter' : ''}: ${recipe('A table')}`,
      ...(hasEvent
        ? [`Give insert${resource} the event, in the action: announce(unit, '${event}', present${resource})`]
        : []),
      `Check the types and the database: npm run lint -- --types && npm test -- erasure account-keys`,
    ],
  });
}
