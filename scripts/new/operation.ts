// `npm run new -- operation GET /buyer-notes`: the path, its map entry, schemas, examples and parameters. `npm run generate`
// then writes the handler's stub and the test.
import { append, insertBefore, inTurn, newTag } from './contract-text.ts';
import { exampleOf } from './examples.ts';
import { kebab, mustMatch, pascal, plural, sentence, singular, spoken, withArticle } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, operationsIn, tagsOf, type Project } from './project.ts';
import {
  collectionFiles,
  newRecord,
  recordExample,
  requestFiles,
  requestOf,
  resourceSchema,
} from './resource.ts';
import { filled } from './template.ts';

export interface OperationOptions {
  id?: string | undefined;
  schema?: string | undefined;
  tag?: string | undefined;
}

type UsualKind = 'list' | 'get' | 'create' | 'update' | 'replace' | 'delete';
type Kind = UsualKind | 'action';

/** In the order that the house rules ask for in a path. */
const methods = ['post', 'get', 'put', 'patch', 'delete'] as const;
type Method = (typeof methods)[number];

/** What a method does to a collection, and to one record of it. */
const kinds: Record<Method, { collection?: UsualKind; item?: UsualKind }> = {
  post: { collection: 'create' },
  get: { collection: 'list', item: 'get' },
  put: { item: 'replace' },
  patch: { item: 'update' },
  delete: { item: 'delete' },
};

/** The first verb is that of the operation ID, unless another is given. */
const answersOf: Record<UsualKind, { verbs: [string, ...string[]]; status: string }> = {
  list: { verbs: ['list', 'get'], status: '200' },
  get: { verbs: ['get'], status: '200' },
  create: { verbs: ['create', 'check'], status: '201' },
  update: { verbs: ['update'], status: '200' },
  replace: { verbs: ['update'], status: '200' },
  delete: { verbs: ['delete'], status: '204' },
};

interface Design {
  kind: Kind;
  /** With which the summary begins: `List`. */
  verb: string;
  method: Method;
  path: string;
  id: string;
  /** Of the resource's schema. */
  name: string;
  tag: string;
  scope: string;
  parameters: string[];
  takesKey: boolean;
  status: string;
}

function design(verb: string, target: string, options: OperationOptions): Design {
  const method = methods.find((one) => one === verb.toLowerCase());
  if (method === undefined)
    throw new Refusal(
      `"${verb}" is none of ${methods.join(', ').toUpperCase()}. Write: operation GET /buyer-notes`,
    );
  const path = target.startsWith('/') ? target : `/${target}`;
  const segments = path.slice(1).split('/');
  for (const segment of segments)
    mustMatch(
      /^([a-z0-9]+(-[a-z0-9]+)*|\{[a-z][a-z0-9]*(_[a-z0-9]+)*\})$/,
      segment,
      'A path has words in lower case with hyphens, and parameters in braces: /buyers/{buyer_id}/notes',
    );
  const isParameter = (segment: string) => segment.startsWith('{');
  const fixed = segments.filter((segment) => !isParameter(segment));
  const [first] = fixed;
  if (first === undefined || isParameter(segments[0] ?? ''))
    throw new Refusal('A path begins with the name of a collection: /buyers/{buyer_id}');
  const isItem = isParameter(segments.at(-1) ?? '');
  const kind = kinds[method][isItem ? 'item' : 'collection'];
  if (kind === undefined)
    throw new Refusal(
      isItem
        ? `POST creates in a collection. Write: operation POST ${path.replace(/\/[^/]+$/, '')}`
        : `${method.toUpperCase()} is for one record, which the path names. Write: operation ${method.toUpperCase()} ${path}/{${singular(segments.at(-1) ?? '').replaceAll('-', '_')}_id}`,
    );
  const name = options.schema ?? pascal(fixed.map(singular).join('-'));
  mustMatch(/^([A-Z][a-z0-9]*)+$/, name, 'A schema is in PascalCase: --schema BuyerNote');
  const { verbs } = answersOf[kind];
  const id = options.id ?? verbs[0] + (kind === 'list' ? pascal(plural(spoken(name))) : name);
  mustMatch(
    new RegExp(`^(${verbs.join('|')})([A-Z][a-z0-9]*)+$`),
    id,
    `An operation ID is in camelCase and begins with ${verbs.join(' or ')}: --id ${verbs[0]}${name}`,
  );
  const tag = options.tag ?? sentence(spoken(first));
  const scope = `${first}.${method === 'get' ? 'read' : 'write'}`;
  const parameters = segments.filter(isParameter).map((segment) => segment.slice(1, -1));
  // PUT and DELETE are idempotent by definition.
  const takesKey = kind === 'create' || kind === 'update';
  const { status } = answersOf[kind];
  return { kind, verb: sentence(kind), method, path, id, name, tag, scope, parameters, takesKey, status };
}

/** `cancel` on `Booking`: POST /bookings/{booking_id}/cancel, which shows the booking as it is then. */
async function designAction(project: Project, verb: string, name = ''): Promise<Design> {
  const example = 'action cancel --on Booking';
  mustMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/, verb, `An action is a verb in lower case: ${example}`);
  mustMatch(/^([A-Z][a-z0-9]*)+$/, name, `Name the schema of the record: ${example}`);
  const collection = plural(kebab(name));
  if (!(await project.has(component('schemas', name))))
    throw new Refusal(
      `There is no schema ${name}. Write it first: npm run new -- operation POST /${collection}`,
    );
  const known = (await operationsIn(project)).map(({ file }) =>
    new RegExp(`/${collection}_\\{(\\w+)\\}`).exec(file),
  );
  const parameter = known.find((one) => one !== null)?.[1] ?? `${kebab(name).replaceAll('-', '_')}_id`;
  const scope = `${collection}.write`;
  return {
    ...{ kind: 'action', method: 'post', name, scope, takesKey: true, status: '200' },
    path: `/${collection}/{${parameter}}/${verb}`,
    verb: sentence(spoken(verb)),
    id: verb.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) + name,
    tag: sentence(spoken(collection)),
    parameters: [parameter],
  };
}

function operationText(
  { kind, verb, method, id, name, tag, scope, parameters, takesKey, status }: Design,
  example: string,
): string {
  const request = requestOf(name)[kind];
  return filled('operation.yaml', {
    ...{ method, id, tag, scope, takesKey, example, Resource: name, verb, status, [kind]: true },
    one: spoken(name),
    any: withArticle(spoken(name)),
    many: plural(spoken(name)),
    pathParameters: parameters
      .map((parameter) => `    - $ref: ../components/parameters/${pascal(parameter)}.yaml`)
      .join('\n'),
    hasBody: request !== undefined,
    request: request?.schema ?? '',
    requestExample: request?.example ?? '',
    requestDescription: request?.description ?? '',
    writes: method !== 'get',
  });
}

const pathParameter = (name: string) =>
  // Paths of different resources share the component of a plain `id`.
  filled('path-parameter.yaml', {
    name,
    one: name === 'id' ? 'record that the path names' : spoken(name.replace(/_id$/, '')),
  });

/** The record that the operation shows, the example that shows it alone, and what has to be written for that. */
async function shownBy(project: Project, kind: Kind, name: string) {
  const sample = `${name}Sample`;
  // A 204 shows nothing, and a schema that nothing refers to fails the lint.
  if (kind === 'delete') return { record: '', example: sample, write: {} };
  const schema = component('schemas', name);
  const isThere = await project.has(schema);
  const found = isThere ? await exampleOf(project, name) : { record: newRecord(name), name: undefined };
  if (!found)
    throw new Refusal(
      `The schema ${name} exists, but no example shows it with all of its required fields. Write one, or choose another schema: --schema ${name}Summary`,
    );
  const { record, name: example = sample } = found;
  const isMissing = kind !== 'list' && found.name === undefined;
  const write = {
    ...(!isThere && { [schema]: resourceSchema(name) }),
    ...(isMissing && { [component('examples', sample)]: recordExample(name, record) }),
  };
  return { record, example, write };
}

export const newOperation = (project: Project, verb: string, target: string, options: OperationOptions) =>
  planFor(project, design(verb, target, options));

export const newAction = async (project: Project, verb: string, name: string | undefined) =>
  planFor(project, await designAction(project, verb, name));

async function planFor(project: Project, made: Design): Promise<Plan> {
  const plan: Plan = { write: {}, edit: {}, next: [] };
  const { kind, method, path, id, name, tag, parameters, takesKey } = made;

  const { record, example, write } = await shownBy(project, kind, name);
  Object.assign(plan.write, write);
  const many = plural(spoken(name));
  const shared = {
    ...(kind === 'list' ? collectionFiles(name, many, record) : {}),
    ...requestFiles(name, kind),
    ...(takesKey && {
      [component('responses', 'UnprocessableIdempotencyKey')]: filled('reused-key.yaml', {}),
    }),
    ...Object.fromEntries(
      parameters.map((one) => [component('parameters', pascal(one)), pathParameter(one)]),
    ),
  };
  for (const [file, text] of Object.entries(shared)) if (!(await project.has(file))) plan.write[file] = text;

  const text = operationText(made, example);
  const file = `${path.slice(1).replaceAll('/', '_')}.yaml`;
  const root: ((text: string) => string)[] = [];
  if (await project.has(`openapi/paths/${file}`)) {
    const item = (await project.read(`openapi/paths/${file}`)) as Record<string, unknown>;
    if (method in item) throw new Refusal(`${method.toUpperCase()} ${path} exists already.`);
    plan.edit[`openapi/paths/${file}`] = insertBefore(methods.slice(methods.indexOf(method) + 1), text);
  } else {
    plan.write[`openapi/paths/${file}`] = text;
    root.push(append(['paths'], `  ${path}:\n    $ref: ./paths/${file}\n`));
  }
  const hasTag = (await tagsOf(project)).includes(tag);
  if (!hasTag) root.push(newTag(tag, many));
  if (root.length > 0) plan.edit['openapi/openapi.yaml'] = inTurn(...root);

  if (await project.has(`server/handlers/${kebab(id)}.ts`))
    throw new Refusal(`The operation ${id} exists already. Choose another ID: --id`);
  plan.next = [
    `Describe it: ${[
      `openapi/paths/${file}`,
      ...Object.keys(write).filter((one) => one === component('schemas', name)),
      ...(hasTag ? [] : [`the tag "${tag}" in openapi/openapi.yaml`]),
    ].join(', ')}`,
    `Implement server/handlers/${kebab(id)}.ts; until then the service answers with the example`,
    `Run its test, which lists what is missing: npm test -- ${kebab(id)}`,
    `Announce it: info.version, and \`${method.toUpperCase()} ${path}\` below "### Contract" in CHANGELOG.md`,
  ];
  return plan;
}
