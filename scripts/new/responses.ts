// The error responses that a new operation needs and the contract may not have yet.

/** Only operations that take an Idempotency-Key send it. */
const replayed = '  Idempotency-Replayed:\n    $ref: ../headers/IdempotencyReplayed.yaml\n';

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

/** A 422 for operations that have no other reason for one. */
export const reused = 'UnprocessableIdempotencyKey';
export const reusedText = `description: The \`Idempotency-Key\` was used for a request with another path or body.
${anyError('ValidationError', true)}      idempotency_key_reused:
        $ref: ../examples/ErrorIdempotencyKeyReused.yaml
`;
