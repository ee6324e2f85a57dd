// The error responses that a new operation needs and the contract may not have yet.
import { pascal, spoken } from './names.ts';
import { component } from './project.ts';

/** Only operations that take an Idempotency-Key send it. */
export const replayed = '  Idempotency-Replayed:\n    $ref: ../headers/IdempotencyReplayed.yaml\n';

/** The part of a response that is the same for all errors; its examples follow. */
const anyError = (schema: string, takesKey: boolean, headers = '') => `headers:
  X-Request-ID:
    $ref: ../headers/RequestId.yaml
${takesKey ? replayed : ''}${headers}content:
  application/json:
    schema:
      $ref: ../schemas/${schema}.yaml
    examples:
`;

/** A response for one operation; its examples follow. */
export const errorResponse = (status: string, description: string, takesKey: boolean) =>
  `description: ${description}\n${anyError(
    status === '409' ? 'ConflictError' : 'Error',
    takesKey,
    status === '429' ? '  Retry-After:\n    $ref: ../headers/RetryAfter.yaml\n' : '',
  )}`;

/** A 404 for operations that name a record in their path: the innermost one is missing, or the merchant account. */
export const notFound = (parameters: string[]) => `NotFound${pascal(parameters.at(-1) ?? '')}`;

export function notFoundFiles(parameters: string[], takesKey: boolean): Record<string, string> {
  const last = parameters.at(-1);
  if (last === undefined) return {};
  const one = spoken(last.replace(/_id$/, ''));
  const example = `Error${pascal(last)}NotFound`;
  return {
    [component('responses', notFound(parameters))]: `description: >-
  There is no such ${one} in this merchant account, or the key pair has no access to the merchant account.
${anyError('Error', takesKey)}      not_found:
        $ref: ../examples/${example}.yaml
      merchant_account_not_found:
        $ref: ../examples/ErrorNotFound.yaml
`,
    [component('examples', example)]: `summary: There is no such ${one} in this merchant account
value:
  type: error
  code: not_found
  status: 404
  message: The resource could not be found
  details: []
`,
  };
}

/** A 422 for operations that have no other reason for one. */
export const reused = 'UnprocessableIdempotencyKey';
export const reusedText = `description: The \`Idempotency-Key\` was used for a request with another path or body.
${anyError('ValidationError', true)}      idempotency_key_reused:
        $ref: ../examples/ErrorIdempotencyKeyReused.yaml
`;
