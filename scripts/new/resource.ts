// The schema and the example of a resource that an operation or a property shows.
import { indent } from './contract-text.ts';
import { kebab, sentence, spoken, withArticle } from './names.ts';
import { component } from './project.ts';
import { filled } from './template.ts';

/** The schema of an object that has nothing but a name yet. */
const namedObject = (description: string, name: string, isPartial = false) =>
  filled('named-object.yaml', { description, one: spoken(name), partial: isPartial });

const valuesOf = (name: string) => ({
  type: kebab(name),
  one: spoken(name),
  Any: sentence(withArticle(spoken(name))),
});

export const resourceSchema = (name: string) => filled('resource.yaml', valuesOf(name));

/** A record of a new resource. */
export const newRecord = (name: string) => filled('record.yaml', valuesOf(name));

export const recordExample = (name: string, record: string) =>
  `summary: ${valuesOf(name).Any}\nvalue:\n${indent(record, 2)}`;

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
  return {
    [component('schemas', schema)]: namedObject(about, name, kind === 'update'),
    [component('examples', example)]: `summary: ${summary}
value:
  display_name: First ${spoken(name)}
`,
  };
}

export const collectionFiles = (name: string, many: string, record: string) => ({
  [component('schemas', `${name}Collection`)]: filled('collection.yaml', { many, Resource: name }),
  [component('examples', `${name}CollectionOnlyPage`)]: filled('collection-example.yaml', {
    many,
    record: indent(record, 6).trim(),
  }),
});
