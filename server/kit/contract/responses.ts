// Validates every response against the contract before it is sent, errors included. A write is
// validated before its transaction commits, which the response validation of express-openapi-validator cannot do.
import { hash } from 'node:crypto';
import { parseJson } from '../../../client/json.ts';
import type { EventName, OperationId } from '../../../generated/operations.ts';
import type { ValidateFunction } from '../../../generated/validators.js';
import type { JsonBytes } from './handler-types.ts';
import { operationsOf, resolve, valueAt, type Document, type Schema } from './load.ts';

export interface ResponseCheck {
  /** What is wrong with the response, without its values; undefined when it is valid. */
  fault: (id: OperationId | undefined, status: number, body: unknown) => string | undefined;
  eventFault: (name: EventName, payload: unknown) => string | undefined;
}

/** Names properties, which are ours, and never values. */
function describeFault({
  instancePath,
  message = '',
  params,
}: NonNullable<ValidateFunction['errors']>[number]): string {
  if (params && 'additionalProperty' in params)
    return `${instancePath}/${String(params.additionalProperty)} is not in the contract`;
  return `${instancePath || '/'} ${message}`;
}

/** `empty` are the keys of responses without content. */
export function createResponseCheck(
  validators: ReadonlyMap<string, ValidateFunction>,
  empty: ReadonlySet<string>,
): ResponseCheck {
  const faultOf = (validate: ValidateFunction, value: unknown) =>
    validate(value) ? undefined : (validate.errors ?? []).map(describeFault).join('; ');
  const known = createKnownItems();
  const jsonFault = (validate: ValidateFunction) => (json: string | Buffer) => {
    try {
      return faultOf(validate, parseJson(json.toString()));
    } catch {
      return 'is not JSON';
    }
  };
  const listFault = (validate: ValidateFunction, key: string, list: JsonList): string | undefined => {
    const validateItem = validators.get(key);
    if (!validateItem) return jsonFault(validate)(writeBody(list));
    const around = faultOf(validate, { ...list, items: [] });
    if (around !== undefined) return around;
    const check = jsonFault(validateItem);
    for (const [index, { json }] of list.items.entries()) {
      const fault = known.fault(key, json, check);
      if (fault !== undefined) return `/items/${index} ${fault}`;
    }
    return undefined;
  };
  return {
    fault(id, status, body) {
      // Requests to unknown paths get an error body too.
      const key = id ? responseKey(id, status) : errorKey;
      if (empty.has(key)) return body === undefined ? undefined : `${key} has a body, and must have none`;
      const validate = validators.get(key);
      if (!validate) return `${id ?? ''} does not declare ${status}`;
      return id && isJsonList(body)
        ? listFault(validate, itemKey(id, status), body)
        : faultOf(validate, body);
    },
    eventFault(name, payload) {
      const validate = validators.get(eventKey(name));
      return validate ? faultOf(validate, payload) : `${name} is not an event of the contract`;
    },
  };
}

// Lists whose items the database wrote as JSON (JsonBytes in handler-types.ts): how they are recognised, and written
// into an answer.

type JsonList = Record<string, unknown> & { items: readonly { readonly json: Buffer }[] };

/** The items of a list are all JSON, or none is. An empty list is an ordinary value. */
const isJsonList = (body: unknown): body is JsonList => {
  const items = (body as { items?: unknown } | null)?.items;
  return Array.isArray(items) && Buffer.isBuffer((items[0] as Partial<JsonBytes<unknown>> | undefined)?.json);
};

const comma = Buffer.from(',');

/** Empty for a response without content. */
export function writeBody(body: unknown): string | Buffer {
  if (body === undefined) return '';
  if (!isJsonList(body)) return JSON.stringify(body);
  const { items, ...rest } = body;
  const around = JSON.stringify(rest);
  const parts: Buffer[] = [Buffer.from('{"items":[')];
  for (const [index, { json }] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(json);
  }
  parts.push(Buffer.from(`]${around === '{}' ? '' : ','}${around.slice(1)}`));
  return Buffer.concat(parts);
}

// Remembers which items were valid, so that an item that is sent again and again is parsed and validated once. It holds digests
// and never the items: they are personal data.

interface KnownItems {
  /** Validates the JSON unless it is known to be valid. Returns what is wrong with it. */
  fault: (schema: string, json: Buffer, faultOf: (json: Buffer) => string | undefined) => string | undefined;
}

/** Entries of each of the two generations. One takes about 100 bytes. */
const mostEntries = 20_000;

export function createKnownItems(most = mostEntries): KnownItems {
  let young = new Set<string>();
  let old = new Set<string>();
  // When a generation is full, the one before it is forgotten.
  const remember = (known: string) => {
    if (young.size >= most) {
      old = young;
      young = new Set();
    }
    young.add(known);
  };
  return {
    fault(schema, json, faultOf) {
      const known = `${hash('sha256', json, 'base64')} ${schema}`;
      if (young.has(known)) return undefined;
      const fault = old.has(known) ? undefined : faultOf(json);
      if (fault === undefined) remember(known);
      return fault;
    },
  };
}

// Where the contract has the schemas of what the service sends: responses, events, and the error for unknown paths. Used to
// compile their validators, at `npm run generate` or at start.

const json = '/content/application~1json/schema';

const responseKey = (operationId: string, status: number | string) => `${operationId} ${status}`;
const itemKey = (operationId: string, status: number | string) => `${responseKey(operationId, status)} item`;
const eventKey = (name: string) => `event ${name}`;
const errorKey = 'error';

/** JSON pointers without the leading #, by key. */
export function responseSchemas(document: Document): Map<string, string> {
  const pointers = new Map<string, string>();
  for (const { operation, pointer } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!resolve(document, response).content) continue;
      const base = '$ref' in response ? response.$ref.slice(1) : `${pointer}/responses/${status}`;
      pointers.set(responseKey(operation.operationId, status), base + json);
      const item = itemPointer(document, base + json);
      if (item !== undefined) pointers.set(itemKey(operation.operationId, status), item);
    }
  }
  for (const name of Object.keys(document.webhooks))
    pointers.set(eventKey(name), `/webhooks/${name}/post/requestBody${json}`);
  return pointers.set(errorKey, '/components/schemas/Error');
}

/** The keys of responses without content, such as 204. */
export const emptyResponses = (document: Document): Set<string> =>
  new Set(
    operationsOf(document).flatMap(({ operation: { operationId, responses } }) =>
      Object.entries(responses)
        .filter(([, response]) => !resolve(document, response).content)
        .map(([status]) => responseKey(operationId, status)),
    ),
  );

/** Where the schema of a list's items is, if they can be validated one by one. */
function itemPointer(document: Document, pointer: string): string | undefined {
  const { $ref, properties } = valueAt(document, pointer) as Schema & { properties?: { items?: Schema } };
  if ($ref !== undefined) return itemPointer(document, $ref.slice(1));
  const { type, items, description: _, ...further } = properties?.items ?? {};
  return type === 'array' && items !== undefined && Object.keys(further).length === 0
    ? `${pointer}/properties/items/items`
    : undefined;
}
