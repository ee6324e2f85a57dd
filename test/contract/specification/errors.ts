/** "Errors": the shape of the body at each status. */
import type { Json } from './document.ts';
import {
  any,
  arrayOf,
  constant,
  eitherOf,
  extensible,
  object,
  oneOf,
  openObject,
  optional,
  orNull,
  perhaps,
  string,
  stringOrInteger,
  withDefault,
  type Rule,
} from './notation.ts';
import { errorCodes, errorLocations } from './values.ts';

const detail = object({
  location: oneOf(errorLocations),
  pointer: perhaps(string(), { format: 'json-pointer' }),
  message: string(),
  type: string(),
});

/** 422 */
const validationError = object({
  detail: perhaps(
    arrayOf(
      object({
        loc: arrayOf(stringOrInteger()),
        msg: string(),
        type: string(),
        input: optional(any()),
        ctx: optional(openObject()),
      }),
    ),
    { minItems: 1 },
  ),
});

/** A body is declared either for its one status or for all of them together. */
function error(status: number): Record<string, Rule> {
  const row = errorCodes[status];
  if (!row) throw new Error(`The specification has no error code for status ${status}`);
  const rows = Object.values(errorCodes);
  return {
    type: constant('error'),
    // Consumers must expect codes that they do not know.
    code: extensible(
      eitherOf(
        'string',
        rows.map(({ code }) => code),
        [row.code],
      ),
    ),
    status: eitherOf('integer', undefined, [status], Object.keys(errorCodes).map(Number)),
    message: eitherOf('string', undefined, [row.message]),
    // The open points bound what the specification leaves open.
    details: withDefault(arrayOf(detail, { maxItems: 100 }), []),
  };
}

/** What every example of an error must say, whatever its `details`. */
export function errorFacts(status: number): Json {
  return { type: 'error', status, ...errorCodes[status] };
}

export const isSpecified = (code: string): boolean =>
  Object.values(errorCodes).some((row) => row.code === code);

export function errorBody(status: number): Rule {
  if (status === 422) return validationError;
  if (status !== 409) return object(error(status));
  return object({ ...error(status), resource_id: perhaps(orNull(string()), { format: 'uuid' }) });
}
