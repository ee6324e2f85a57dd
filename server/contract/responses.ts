// Validates every response against the contract before it is sent, errors included. A write is
// validated before its transaction commits, which the response validation of express-openapi-validator cannot do.
import type { EventName, OperationId } from '../../generated/operations.ts';
import type { Validator } from '../../generated/validators.js';
import { errorKey, eventKey, responseKey } from './response-schemas.ts';

export interface ResponseCheck {
  /** What is wrong with the response, without its values; undefined when it is valid. */
  fault: (id: OperationId | undefined, status: number, body: unknown) => string | undefined;
  eventFault: (name: EventName, payload: unknown) => string | undefined;
}

export function createResponseCheck(validators: ReadonlyMap<string, Validator>): ResponseCheck {
  const faultOf = (validate: Validator, value: unknown) =>
    validate(value)
      ? undefined
      : (validate.errors ?? [])
          .map((error) => `${error.instancePath || '/'} ${error.message ?? ''}`)
          .join('; ');
  return {
    fault(id, status, body) {
      // Requests to unknown paths get an error body too.
      const validate = validators.get(id ? responseKey(id, status) : errorKey);
      return validate ? faultOf(validate, body) : `${id ?? ''} does not declare ${status}`;
    },
    eventFault(name, payload) {
      const validate = validators.get(eventKey(name));
      return validate ? faultOf(validate, payload) : `${name} is not an event of the contract`;
    },
  };
}
