// The copy of the contract that the reference shows: with commands to paste, without what only a validator needs. What readers
// download is made by server/contract/load.ts.
import { slug } from 'github-slugger';
import { resolve } from '../../server/contract/load.ts';
import { samplesOf, type Call } from './samples.ts';

export interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

export interface Parameter {
  name: string;
  in: string;
  description?: string;
  example?: unknown;
}

interface Content {
  content: Record<string, { schema?: Schema; examples?: Record<string, { value?: unknown }> }>;
}

export interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses?: Record<string, Partial<Content>>;
  'x-deprecation'?: { since: string; sunset: string };
  'x-codeSamples'?: { lang: string; source: string }[];
}

export interface Contract {
  info: { title: string; summary: string; description: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
}

/** Every operation, then every event. */
export const itemsOf = ({ paths, webhooks }: Pick<Contract, 'paths' | 'webhooks'>) =>
  [paths, webhooks].flatMap((items) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
        isEvent: items === webhooks,
        /** Where Redoc shows it. */
        href: `reference.html#/${slug(operation.tags[0])}/${operation.operationId.toLowerCase()}`,
      })),
    ),
  );

/** Not validated here: `npm run generate` lints the contract before it writes the bundle. */
export const parseContract = (text: string) => JSON.parse(text) as Contract;

export function forReaders(contract: Contract): Contract {
  const shown = withoutValidation(contract) as Contract;
  shown.info.description = '';
  for (const entry of itemsOf(shown).filter(({ isEvent }) => !isEvent)) {
    const { operation } = entry;
    operation['x-codeSamples'] = samplesOf(callOf(contract, entry));
    operation.description = `${tryIt(operation)}\n\n${deprecated(operation)}${operation.description ?? ''}`;
  }
  return shown;
}

const deprecated = ({ 'x-deprecation': dates }: Operation) =>
  dates === undefined ? '' : `**Deprecated since ${dates.since}, removed after ${dates.sunset}.**\n\n`;

/** Hidden where there is no console: see style.css and server/http/static.ts. */
const tryIt = ({ operationId }: Operation) => `[Try it in the console](../console/#${operationId})`;

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

/** With the first example of the body, which is the one that succeeds, or the first filter of a list that has an example. */
function callOf(contract: Contract, { method, path, operation }: ReturnType<typeof itemsOf>[number]): Call {
  const { requestBody, parameters = [] } = operation;
  const [first] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const named = parameters.map((one) => resolve(contract, one));
  const has = (wanted: string) => named.some(({ name }) => name === wanted);
  const filter = named.find((one) => one.in === 'query' && one.example !== undefined);
  return {
    method,
    // The local server is the only URL without variables, so the samples work unedited.
    server: contract.servers.find(({ url }) => !url.includes('{'))?.url ?? '',
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
