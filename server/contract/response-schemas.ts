// Where the contract has the schemas of what the service sends: responses, events, and the error for unknown paths. Used to
// compile their validators, at `npm run generate` or at start.
import { operationsOf, resolve, type Document } from './load.ts';

const json = '/content/application~1json/schema';

export const responseKey = (operationId: string, status: number | string) => `${operationId} ${status}`;
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
    }
  }
  for (const name of Object.keys(document.webhooks))
    pointers.set(eventKey(name), `/webhooks/${name}/post/requestBody${json}`);
  return pointers.set(errorKey, '/components/schemas/Error');
}
