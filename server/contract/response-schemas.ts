// Where the contract has the schemas of what the service sends: responses, events, and the error for unknown paths. Used to
// compile their validators, at `npm run generate` or at start.
import { operationsOf, resolve, valueAt, type Document, type Schema } from './load.ts';

const json = '/content/application~1json/schema';

export const responseKey = (operationId: string, status: number | string) => `${operationId} ${status}`;
/** One item of a list. */
export const itemKey = (operationId: string, status: number | string) =>
  `${responseKey(operationId, status)} item`;
export const eventKey = (name: string) => `event ${name}`;
export const errorKey = 'error';

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

/** Of lists whose items are valid or not by themselves, each alone. */
function itemPointer(document: Document, pointer: string): string | undefined {
  const { $ref, properties } = valueAt(document, pointer) as Schema & { properties?: { items?: Schema } };
  if ($ref !== undefined) return itemPointer(document, $ref.slice(1));
  const { type, items, description: _, ...further } = properties?.items ?? {};
  return type === 'array' && items !== undefined && Object.keys(further).length === 0
    ? `${pointer}/properties/items/items`
    : undefined;
}
