// Validates every response against the contract before it is sent, errors included. A write is
// validated before its transaction commits, which the response validation of express-openapi-validator cannot do.
import type { EventName, OperationId } from '../../generated/operations.ts';
import type { Validator } from '../../generated/validators.js';
import { parseJson } from '../../client/json.ts';
import { isJsonList, writeBody, type JsonList } from './json-items.ts';
import { errorKey, eventKey, itemKey, responseKey } from './response-schemas.ts';
import { createKnownItems } from './known-items.ts';

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
}: NonNullable<Validator['errors']>[number]): string {
  if (params && 'additionalProperty' in params)
    return `${instancePath}/${String(params.additionalProperty)} is not in the contract`;
  return `${instancePath || '/'} ${message}`;
}

/** `empty` are the keys of responses without content. */
export function createResponseCheck(
  validators: ReadonlyMap<string, Validator>,
  empty: ReadonlySet<string>,
): ResponseCheck {
  const faultOf = (validate: Validator, value: unknown) =>
    validate(value) ? undefined : (validate.errors ?? []).map(describeFault).join('; ');
  const known = createKnownItems();
  const jsonFault = (validate: Validator) => (json: string | Buffer) => {
    try {
      return faultOf(validate, parseJson(json.toString()));
    } catch {
      return 'is not JSON';
    }
  };
  const listFault = (validate: Validator, key: string, list: JsonList): string | undefined => {
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
