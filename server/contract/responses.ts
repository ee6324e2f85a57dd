// Validates every response against the contract before it is sent, errors included. Schemas are compiled at start-up. A write
// is validated before its transaction commits, which the response validation of express-openapi-validator cannot do.
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import type { EventName, OperationId } from '../../generated/operations.ts';
import { compileAt } from './ajv.ts';
import { operationsOf, resolve, type Document } from './load.ts';

export interface ResponseCheck {
  /** What is wrong with the response, without its values; undefined when it is valid. */
  fault: (id: OperationId | undefined, status: number, body: unknown) => string | undefined;
  eventFault: (name: EventName, payload: unknown) => string | undefined;
}

export function createResponseCheck(document: Document, ajv: Ajv2020): ResponseCheck {
  const json = '/content/application~1json/schema';
  const validators = new Map<string, ValidateFunction>();
  for (const { operation, pointer } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!resolve(document, response).content) continue;
      const base = '$ref' in response ? response.$ref.slice(1) : `${pointer}/responses/${status}`;
      validators.set(`${operation.operationId} ${status}`, compileAt(ajv, base + json));
    }
  }
  const events = new Map(
    Object.keys(document.webhooks).map((name) => [
      name,
      compileAt(ajv, `/webhooks/${name}/post/requestBody${json}`),
    ]),
  );
  // Requests to unknown paths get an error body too.
  const anyError = compileAt(ajv, '/components/schemas/Error');
  const faultOf = (validate: ValidateFunction, value: unknown) =>
    validate(value)
      ? undefined
      : (validate.errors ?? [])
          .map((error) => `${error.instancePath || '/'} ${error.message ?? ''}`)
          .join('; ');
  return {
    fault(id, status, body) {
      const validate = id ? validators.get(`${id} ${status}`) : anyError;
      return validate ? faultOf(validate, body) : `${id ?? ''} does not declare ${status}`;
    },
    eventFault(name, payload) {
      const validate = events.get(name);
      return validate ? faultOf(validate, payload) : `${name} is not an event of the contract`;
    },
  };
}
