// The copy of the contract that the reference shows: with commands to paste, without what only a validator needs. The
// contract that readers download stays unchanged.
import { samplesOf, type Call } from './samples.ts';

export interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Example {
  summary?: string;
  value?: unknown;
  $ref?: string;
}

interface Parameter {
  name?: string;
  in?: string;
  example?: unknown;
  $ref?: string;
}

export interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> };
  responses?: Record<string, unknown>;
  'x-deprecation'?: { since: string; sunset: string };
  'x-codeSamples'?: { lang: string; source: string }[];
}

export interface Contract {
  info: { title: string; summary: string; description: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components?: { examples?: Record<string, Example>; parameters?: Record<string, Parameter> };
}

/** Not validated here: `npm run generate` lints the contract before it writes the bundle. */
export const parseContract = (text: string) => JSON.parse(text) as Contract;

export function forReaders(contract: Contract): Contract {
  const shown = withoutValidation(contract) as Contract;
  shown.info.description = '';
  for (const [path, item] of Object.entries(shown.paths))
    for (const [method, operation] of Object.entries(item)) {
      operation['x-codeSamples'] = samplesOf(callOf(contract, method, path, operation));
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
function callOf(contract: Contract, method: string, path: string, operation: Operation): Call {
  const { requestBody, parameters = [] } = operation;
  const [first] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const named = parameters.map((one) => resolved(contract.components?.parameters, one));
  const has = (wanted: string) => named.some(({ name }) => name === wanted);
  const filter = named.find((one) => one.in === 'query' && one.example !== undefined);
  return {
    method: method.toUpperCase(),
    // The local server is the only URL without variables, so the samples work unedited.
    server: contract.servers.find(({ url }) => !url.includes('{'))?.url ?? '',
    path,
    hasPages: has('cursor'),
    filter: has('cursor') && filter ? { name: filter.name ?? '', example: filter.example } : undefined,
    body: first && resolved(contract.components?.examples, first).value,
    takesKey: has('Idempotency-Key'),
  };
}

const resolved = <T extends { $ref?: string }>(components: Record<string, T> | undefined, given: T): T =>
  components?.[given.$ref?.split('/').at(-1) ?? ''] ?? given;
