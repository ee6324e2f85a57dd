// `npm run new -- schema NoteAuthor --in BuyerNote`: a schema, or with `--values` an enumeration, and the property that shows it.
// A schema that nothing refers to fails the lint.
import { append, todo } from './contract-text.ts';
import { mustMatch, sentence, snake, spoken, withArticle } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, readSchema, type Project } from './project.ts';
import { namedObject } from './resource.ts';

/** Of `--values gold,silver`. */
export function readValues(text: string | undefined): string[] | undefined {
  const values = text?.split(',');
  for (const value of values ?? [])
    mustMatch(/^[a-z][a-z0-9]*([-_][a-z0-9]+)*$/, value, 'Values are in lower case: --values gold,silver');
  return values;
}

export const enumeration = (description: string, values: string[]) =>
  `description: ${description}\ntype: string\nenum: [${values.join(', ')}]\n`;

export async function newSchema(
  project: Project,
  name: string,
  options: { in?: string | undefined; property?: string | undefined; values?: string | undefined },
): Promise<Plan> {
  mustMatch(/^([A-Z][a-z0-9]*)+$/, name, 'A schema is in PascalCase: schema NoteAuthor --in BuyerNote');
  const owner = options.in;
  if (owner === undefined)
    throw new Refusal(`Name the schema that shall have it: schema ${name} --in BuyerNote`);
  if (!(await project.has(component('schemas', owner))))
    throw new Refusal(`There is no ${component('schemas', owner)}.`);
  const property = options.property ?? snake(name);
  mustMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, property, 'A property is in snake_case: --property note_author');
  const { properties } = await readSchema(project, owner);
  if (properties === undefined) throw new Refusal(`${owner} has no properties to add one to.`);
  if (property in properties)
    throw new Refusal(`${owner} has the property ${property} already. Choose another: --property`);
  const values = readValues(options.values);
  const about = (mark: string) => `${sentence(withArticle(spoken(name)))}.${todo(mark)}`;
  return {
    write: {
      [component('schemas', name)]: values
        ? enumeration(about('say what each value means'), values)
        : namedObject(about('say what it is, and write its properties'), name),
    },
    edit: {
      [component('schemas', owner)]: append(
        ['properties'],
        `  ${property}:
    description: The ${spoken(name)}; null when there is none.
    anyOf:
      - $ref: ./${name}.yaml
      - type: 'null'
`,
      ),
    },
    next: [
      `Describe it${values ? '' : ', and write its properties'}: ${component('schemas', name)}`,
      `Show it in an example of ${owner}; require it there once every answer has it`,
      `If ${owner} is stored, the compiler asks for the column: npm run lint -- --types`,
      `Announce it: info.version, and \`${property}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
}
