// The copy of the contract that the reference shows: with commands to paste, without what only a validator needs. What readers
// download is made by server/kit/contract/load.ts.
import { slug } from 'github-slugger';
import { resolve } from '../../server/kit/contract/load.ts';
import { kebab } from '../generate/handlers.ts';
import { samplesOf, type Call } from './samples.ts';

export interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  title?: string;
  description?: string | undefined;
  type?: string | string[];
  enum?: unknown[];
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

export interface Content {
  description?: string;
  headers?: Record<string, Omit<Parameter, 'name' | 'in'>>;
  content?: Record<string, { schema?: Schema; examples?: Record<string, { value?: unknown }> }>;
}

export interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses?: Record<string, Content>;
  'x-deprecation'?: { since: string; sunset: string };
  'x-codeSamples'?: { lang: string; source: string }[];
}

export interface Contract {
  info: { title: string; summary: string; description: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, object> };
}

/** Every operation, then every event. */
export const itemsOf = ({ paths, webhooks = {} }: Pick<Contract, 'paths' | 'webhooks'>) =>
  [paths, webhooks].flatMap((items) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
        isEvent: items === webhooks,
        /** Its page. */
        page: `reference/${kebab(operation.operationId)}.html`,
        /** Where Redoc shows it. */
        href: `reference.html#/${slug(operation.tags[0])}/${operation.operationId.toLowerCase()}`,
      })),
    ),
  );

export type Item = ReturnType<typeof itemsOf>[number];

/** Not validated here: `npm run generate` lints the contract before it writes the bundle. */
export const parseContract = (text: string) => JSON.parse(text) as Contract;

export function forReaders(contract: Contract): Contract {
  const shown = withoutValidation(contract) as Contract;
  shown.info.description = '';
  showValues(shown);
  for (const entry of itemsOf(shown).filter(({ isEvent }) => !isEvent)) {
    const { operation } = entry;
    operation['x-codeSamples'] = samplesOf(callOf(contract, entry));
    operation.description = deprecated(operation) + (operation.description ?? '');
  }
  return shown;
}

/** Of a parameter that takes several of some values, Redoc shows them only after a click. */
function showValues(contract: Contract): void {
  for (const { operation } of itemsOf(contract))
    operation.parameters = (operation.parameters ?? []).map((given) => {
      const parameter = resolve(contract, given);
      const { enum: values } = resolve(contract, parameter.schema?.items) ?? {};
      const text = `${parameter.description} One of ${values?.map((value) => `\`${String(value)}\``).join(', ')}.`;
      return values ? { ...parameter, description: text } : given;
    });
}

const deprecated = ({ 'x-deprecation': dates }: Operation) =>
  dates === undefined ? '' : `**Deprecated since ${dates.since}, removed after ${dates.sunset}.**\n\n`;

/** Without patterns that say "no control characters" or check a URL, and without the limits of JavaScript's numbers. */
function withoutValidation(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutValidation);
  if (node === null || typeof node !== 'object') return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !isForValidators(key, value))
      .map(([key, value]) => [key, withoutValidation(value)]),
  );
}

const isForValidators = (key: string, value: unknown) =>
  (key === 'pattern' && typeof value === 'string' && (/\\u0000|\[ -~\]/.test(value) || value.length > 60)) ||
  ((key === 'maximum' || key === 'minimum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);

/** The local server is the only URL without variables, so that samples work unedited. */
export const serverOf = ({ servers }: Contract) => servers.find(({ url }) => !url.includes('{'))?.url ?? '';

/** With the first example of the body, which is the one that succeeds, or the first filter of a list that has an example. */
function callOf(contract: Contract, { method, path, operation }: Item): Call {
  const { requestBody, parameters = [] } = operation;
  const [first] = Object.values(requestBody?.content?.['application/json']?.examples ?? {});
  const named = parameters.map((one) => resolve(contract, one));
  const has = (wanted: string) => named.some(({ name }) => name === wanted);
  const filter = named.find((one) => one.in === 'query' && one.example !== undefined);
  return {
    method,
    server: serverOf(contract),
    path,
    ids: named
      .filter((one) => one.in === 'path')
      .map(({ name, example }) => [name, typeof example === 'string' ? example : name.toUpperCase()]),
    hasPages: has('cursor'),
    filter: has('cursor') && filter ? { name: filter.name, example: filter.example } : undefined,
    body: resolve(contract, first)?.value,
    takesKey: has('Idempotency-Key'),
  };
}
