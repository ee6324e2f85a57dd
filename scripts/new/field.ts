// `npm run new -- field installments --in Transaction --type integer`: a property of a stored resource with its column, both
// nullable, so that instances of the old version and code that makes records go on without it.
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { addLine, addNested, inSql, migrationFile } from './code-text.ts';
import { append, appendField, appendName, inTurn, todo } from './contract-text.ts';
import { shownRecords } from './examples.ts';
import { mustMatch, pascal, spoken, withArticle } from './names.ts';
import { formattedPlan, Refusal, type Plan } from './plan.ts';
import { component, readSchema, type Project } from './project.ts';

/** Of `--values gold,silver`. */
function readValues(text: string | undefined): string[] | undefined {
  const values = text?.split(',');
  for (const value of values ?? [])
    mustMatch(/^[a-z][a-z0-9]*([-_][a-z0-9]+)*$/, value, 'Values are in lower case: --values gold,silver');
  return values;
}

interface Kind {
  /** The property below its description. */
  schema: string;
  /** As server/resources names it. */
  column: string;
  example: string;
}

const nullable = (type: string, format?: string) =>
  `    type: [${type}, 'null']\n${format === undefined ? '' : `    format: ${format}\n`}`;

const kinds: Partial<Record<string, Kind>> = {
  string: { schema: nullable('string'), column: 'text', example: 'Example' },
  integer: { schema: nullable('integer', 'int32'), column: 'integer', example: '1' },
  amount: {
    schema: "    anyOf:\n      - $ref: ./Amount.yaml\n      - type: 'null'\n",
    column: 'bigint',
    example: '1299',
  },
  boolean: { schema: nullable('boolean'), column: 'boolean', example: 'true' },
  'date-time': {
    schema: nullable('string', 'date-time'),
    column: 'timestamptz',
    example: "'2026-11-14T02:00:00.000Z'",
  },
  uuid: {
    schema: nullable('string', 'uuid'),
    column: 'uuid',
    example: '2f1c6a52-6f0e-4c55-9d3b-8a4f6f2f9b11',
  },
};

function kindOf(name: string, type: string, values: string[] | undefined): Kind {
  if (values) {
    const schema = `    anyOf:\n      - $ref: ./${pascal(name)}.yaml\n      - type: 'null'\n`;
    return { schema, column: 'text', example: values[0] ?? '' };
  }
  // As house/amount demands.
  if (/(^|_)(amount|balance)$/.test(name) && type !== 'amount')
    throw new Refusal(`An amount has a type of its own: --type amount`);
  const kind = kinds[type];
  if (kind) return kind;
  throw new Refusal(
    `There is no type "${type}". These exist: ${Object.keys(kinds).join(', ')}; for an enumeration write --values gold,silver`,
  );
}

/** The resources whose properties are columns, each with the file that describes its table. */
async function storedResources(project: Project): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const files = await Promise.all(
    ['server/resources', 'server/kit/access', 'server/kit/events'].map(async (folder) =>
      (await readdir(join(project.root, folder)).catch(() => []))
        .sort()
        .map((name) => `${folder}/${name}/table.ts`),
    ),
  );
  for (const file of files.flat()) {
    const text = await readFile(join(project.root, file), 'utf8').catch(() => '');
    const type = /satisfies Shown<(\w+),/.exec(text)?.[1];
    const schema = new RegExp(`type ${type} = .*\\['(\\w+)'\\];`).exec(text)?.[1];
    if (schema !== undefined) found.set(schema, file);
  }
  return found;
}

/** Where an erased buyer's data may be. */
const personal: readonly string[] = ['Buyer', 'PaymentMethod', 'Transaction'];

export interface FieldOptions {
  in?: string | undefined;
  type?: string | undefined;
  values?: string | undefined;
  erasure?: string | undefined;
}

export async function newField(project: Project, name: string, options: FieldOptions): Promise<Plan> {
  mustMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, name, 'A field is in snake_case: field installments');
  const { in: owner, type = 'string', erasure } = options;
  const stored = await storedResources(project);
  const known = [...stored.keys()];
  if (owner === undefined)
    throw new Refusal(
      `Name the resource: field ${name} --in Transaction. These are stored: ${known.join(', ')}`,
    );
  const file = stored.get(owner);
  if (file === undefined)
    throw new Refusal(
      `${owner} is not stored: no table of server/resources describes it. These are: ${known.join(', ')}. To another schema, add the field by hand, below \`properties:\``,
    );
  const { properties = {} } = await readSchema(project, owner);
  if (name in properties) throw new Refusal(`${owner} has the field ${name} already. Choose another name.`);
  const values = readValues(options.values);
  const kind = kindOf(name, type, values);
  const isPersonal = personal.includes(owner);
  const factsFile = `${dirname(file)}/facts.ts`;
  if (isPersonal && erasure !== 'kept' && erasure !== 'erased')
    throw new Refusal(
      `Decide what happens to it when a buyer is erased: add --erasure erased if it may say something about the buyer, --erasure kept if the books need it. See docs/guides/personal-data.md`,
    );
  if (!isPersonal && erasure === 'erased')
    throw new Refusal(
      `Nothing of ${owner} is erased with a buyer yet. Leave --erasure out, then decide in ${factsFile}`,
    );

  const table = basename(dirname(file)).replaceAll('-', '_');
  const shown = await shownRecords(project, owner);
  const examples = [...new Set(shown.map((one) => one.file))];
  const ownSchema = component('schemas', pascal(name));
  const schema = component('schemas', owner);
  const requests: string[] = [];
  for (const kind of ['Create', 'Update', 'Replace']) {
    const request = component('schemas', owner + kind);
    if (await project.has(request)) requests.push(request);
  }
  const resource = withArticle(spoken(owner));
  const plan: Plan = {
    write: {
      [await migrationFile(project, `${table}_${name}`)]: `import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`alter table ${table} add column ${name} ${inSql(kind.column)}\`.execute(db);
}
`,
      ...(values && {
        [ownSchema]: `description: The ${spoken(name)} of ${resource}.\ntype: string\nenum: [${values.join(', ')}]\n`,
      }),
    },
    edit: {
      [schema]: inTurn(
        appendName(['required'], name),
        append(
          ['properties'],
          `  ${name}:\n    description: The ${spoken(name)}; null when there is none.${todo('say what it is')}\n${kind.schema}`,
        ),
      ),
      ...Object.fromEntries(
        examples.map((example) => {
          const records = shown.filter((one) => one.file === example);
          return [
            example,
            inTurn(...records.map(({ path }) => appendField(path, `${name}: ${kind.example}`))),
          ] as const;
        }),
      ),
      [file]: addLine('Columns = {', `${name}: '${kind.column}'`),
      ...(isPersonal && { [factsFile]: addNested('  erasure: {', `${name}: '${erasure}'`) }),
    },
    next: [
      `Describe it, and choose a better example: ${[schema, ...(values ? [ownSchema] : []), ...examples].join(', ')}`,
      `Give it a value where ${resource} is made or changed, in server/resources/; until then it is null`,
      ...(erasure === 'erased' && owner !== 'Transaction'
        ? [`Give it a value in test/service/erasure.test.ts, which fails until there is something to erase`]
        : []),
      ...(erasure === 'erased' ? ['Add it to the list in docs/guides/personal-data.md'] : []),
      ...(kind.column === 'text' && !isPersonal
        ? [`If it may say something about a buyer, decide in ${factsFile}`]
        : []),
      ...(requests.length > 0 ? [`If callers give it, add it to ${requests.join(' and ')}`] : []),
      `Check the types and the database: npm run lint -- --types && npm test -- erasure facts account-keys`,
      `Announce it: info.version, and \`${name}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
  return formattedPlan(plan);
}
