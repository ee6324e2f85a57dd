// The schema and the example of a resource that an operation or a property shows.
import { todo } from './contract-text.ts';
import { kebab, sentence, spoken, withArticle } from './names.ts';
import { component } from './project.ts';

const resource = (
  name: string,
) => `description: ${sentence(withArticle(spoken(name)))}.${todo('say what it is, and write its properties')}
type: object
additionalProperties: false
required: [type, id, display_name, created_at]
properties:
  type:
    description: Always \`${kebab(name)}\`.
    type: string
    const: ${kebab(name)}
  id:
    description: The ID of the ${spoken(name)}.
    type: string
    format: uuid
  display_name:
    description: The name of the ${spoken(name)}, for people.
    type: string
  created_at:
    description: When the ${spoken(name)} was created.
    $ref: ./Timestamp.yaml
`;

const sample = (name: string) => `summary: ${sentence(withArticle(spoken(name)))}
value:
  type: ${kebab(name)}
  id: 2f1c6a52-6f0e-4c55-9d3b-8a4f6f2f9b11
  display_name: First ${spoken(name)}
  created_at: '2026-11-14T02:00:00.000Z'
`;

/** The schema of an object that has nothing but a name yet. */
export const namedObject = (description: string, name: string) => `description: ${description}
type: object
additionalProperties: false
required: [display_name]
properties:
  display_name:
    description: The name of the ${spoken(name)}, for people.
    type: string
    minLength: 1
    maxLength: 255
`;

const collection = (name: string, many: string) => `description: A page of ${many}.
type: object
additionalProperties: false
required: [items, limit, next_cursor, previous_cursor]
properties:
  items:
    description: The ${many} of this page, newest first.
    type: array
    items:
      $ref: ./${name}.yaml
  limit:
    $ref: ./PageLimit.yaml
  next_cursor:
    description: Send this as \`cursor\` for the page of older items; null on the last page.
    $ref: ./PageCursor.yaml
  previous_cursor:
    description: Send this as \`cursor\` for the page of newer items; null on the first page.
    $ref: ./PageCursor.yaml
`;

export const resourceFiles = (name: string) => ({
  [component('schemas', name)]: resource(name),
  [component('examples', `${name}Sample`)]: sample(name),
});

interface Request {
  /** The name of the schema, and of its example. */
  schema: string;
  example: string;
  /** In the operation, in the schema, and of the example. */
  description: string;
  about: string;
  summary: string;
}

/** The bodies that operations take. */
export const requestOf = (name: string): Partial<Record<string, Request>> => {
  const [one, any] = [spoken(name), withArticle(spoken(name))];
  return {
    create: {
      schema: `${name}Create`,
      example: `${name}SampleRequest`,
      description: `The ${one} to create.`,
      about: `What a new ${one} is made from.`,
      summary: `${sentence(any)} to create`,
    },
    update: {
      schema: `${name}Update`,
      example: `${name}SampleUpdate`,
      description: 'The properties to change.',
      about: `What changes in ${any}. What is left out stays as it is.`,
      summary: `Changes of ${any}`,
    },
    replace: {
      schema: `${name}Replace`,
      example: `${name}SampleReplace`,
      description: 'All properties.',
      about: `What ${any} is replaced with.`,
      summary: `What ${any} is replaced with`,
    },
  };
};

export function requestFiles(name: string, kind: string): Record<string, string> {
  const request = requestOf(name)[kind];
  if (!request) return {};
  const { schema, example, about, summary } = request;
  const whole = namedObject(about, name);
  return {
    [component('schemas', schema)]:
      kind === 'update' ? whole.replace(/^required: .*$/m, 'minProperties: 1') : whole,
    [component('examples', example)]: `summary: ${summary}
value:
  display_name: First ${spoken(name)}
`,
  };
}

export const collectionFiles = (name: string, many: string, example: string) => ({
  [component('schemas', `${name}Collection`)]: collection(name, many),
  [component('examples', `${name}CollectionOnlyPage`)]: `summary: The only page of ${many}
value:
  items:
    - $ref: ./${example}.yaml#/value
  limit: 20
  next_cursor: null
  previous_cursor: null
`,
});
