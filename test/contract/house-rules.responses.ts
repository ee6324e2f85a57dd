/** Broken responses, each with the rule that must report it. */
import { add, cut, swap } from '../support/contract-copy.ts';
import type { Fixture } from './house-rules.test.ts';

const transactions = 'paths/transactions.yaml';
const balances = 'paths/gift-cards_balances.yaml';
const paymentMethods = 'paths/payment-methods.yaml';
const schemes = 'paths/card-scheme-definitions.yaml';
const keyPairs = 'paths/api-key-pairs.yaml';
const withoutStatus = (status: number) => cut(new RegExp(`    '${status}':\n      \\$ref: .*\n`));
const missing = (status: number, file: string, why: string): Fixture => ({
  rule: 'house/shared-errors',
  broken: `no ${status}`,
  file,
  edit: withoutStatus(status),
  at: 'responses:',
  says: `Declare ${status} (${why})`,
});
const response = (name: string) => `components/responses/${name}.yaml`;

export const responses: Fixture[] = [
  {
    rule: 'house/error-code',
    broken: 'an error code without an example',
    file: 'components/schemas/ErrorCode.yaml',
    edit: add('  - refund_too_late\n'),
    at: '- refund_too_late',
    says: 'Run: npm run new -- error refund_too_late --in OPERATION',
  },
  {
    rule: 'house/content',
    broken: 'a 204 with a body',
    file: schemes,
    edit: swap("'200':", "'204':"),
    at: "'204':",
    says: 'remove its content',
  },
  {
    rule: 'house/content',
    broken: 'a 200 without a body',
    file: schemes,
    edit: cut(/ {6}content:\n(?: {8}.*\n)+/u),
    at: "'200':",
    says: 'declare 204 instead',
    also: ['house/no-orphans'],
  },
  { ...missing(400, paymentMethods, 'it has input'), also: ['house/no-orphans'] },
  missing(401, schemes, 'every operation needs a token'),
  missing(403, transactions, 'every operation needs a scope'),
  {
    ...missing(404, paymentMethods, 'what the request refers to may not exist'),
    also: ['house/no-orphans', 'house/paired-examples'],
  },
  missing(405, balances, 'its path may be called with another method'),
  { ...missing(422, transactions, 'its cursor may belong to another list'), also: ['house/no-orphans'] },
  missing(425, balances, 'a POST may arrive as early data'),
  {
    ...missing(425, schemes, 'a DELETE may arrive as early data'),
    broken: 'no 425 of a DELETE',
    edit: swap('get:\n  operationId: list', 'delete:\n  operationId: delete'),
  },
  missing(429, balances, 'it has a rate limit'),
  { ...missing(429, paymentMethods, 'it has a rate limit'), also: ['house/no-orphans'] },
  missing(500, schemes, 'anything may fail'),
  {
    rule: 'house/shared-errors',
    broken: 'several of them missing: one message',
    file: schemes,
    edit: (text) => withoutStatus(401)(withoutStatus(500)(text)),
    at: 'responses:',
    says: '500 (anything may fail) by $ref to ../components/responses/Unauthorized.yaml, ../components/responses/ServerError.yaml,',
  },
  {
    rule: 'house/shared-errors',
    broken: 'a needed status that is reserved',
    file: keyPairs,
    edit: swap("    '404': The", "    '401': Everybody may list the key pairs here.\n    '404': The"),
    at: 'responses:',
    says: 'do not reserve it',
  },
  {
    rule: 'house/shared-errors',
    broken: 'a path parameter without 404',
    file: schemes,
    edit: swap('  responses:', '    - $ref: ../components/parameters/SchemeId.yaml\n  responses:'),
    at: 'responses:',
    says: 'Declare 404',
    plus: {
      'components/parameters/SchemeId.yaml': () =>
        'name: id\nin: path\nrequired: true\ndescription: The scheme.\nschema:\n  $ref: ../schemas/CardScheme.yaml\n',
      'openapi.yaml': swap('/card-scheme-definitions:\n', '/card-scheme-definitions/{id}:\n'),
    },
    also: ['house/component-name'],
  },
  {
    rule: 'house/shared-errors',
    broken: 'an error that is written out',
    file: schemes,
    edit: swap(
      '$ref: ../components/responses/ServerError.yaml',
      `description: Broken.
      headers: {X-Request-ID: {$ref: ../components/headers/RequestId.yaml}}
      content:
        application/json:
          schema: {$ref: ../components/schemas/Error.yaml}
          examples: {server_error: {$ref: ../components/examples/ErrorServerError.yaml}}`,
    ),
    at: "'500':",
    says: 'declare 500 by $ref to a file in components/responses',
  },
  {
    rule: 'house/error-schema',
    broken: 'an error with a schema of its own',
    file: response('Forbidden'),
    edit: swap('../schemas/Error.yaml', '../schemas/ErrorDetail.yaml'),
    at: 'schema:',
    says: 'every 403 the same way: give it the schema ../schemas/Error.yaml',
    also: ['no-invalid-media-type-examples'],
  },
  {
    rule: 'house/error-schema',
    broken: 'a conflict that does not name the other record',
    file: response('Conflict'),
    edit: swap('../schemas/ConflictError.yaml', '../schemas/Error.yaml'),
    at: 'schema:',
    says: '../schemas/ConflictError.yaml',
    also: ['no-invalid-media-type-examples', 'house/no-orphans'],
  },
  {
    rule: 'house/error-schema',
    broken: 'a 422 in the shape of the other errors',
    file: response('UnprocessableCursor'),
    edit: swap('../schemas/ValidationError.yaml', '../schemas/Error.yaml'),
    at: 'schema:',
    says: '../schemas/ValidationError.yaml',
    also: ['no-invalid-media-type-examples'],
  },
  {
    rule: 'house/error-schema',
    broken: 'an error without a body',
    file: response('TooEarly'),
    edit: cut(/content:[\s\S]*/u),
    at: 'description:',
    says: '../schemas/Error.yaml',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/response-headers',
    broken: 'a 201 without the request id',
    file: paymentMethods,
    edit: cut(/ {6}headers:\n(?: {8}.*\n)+/u),
    also: ['house/idempotency-key'],
    at: "'201':",
    says: 'Add the header X-Request-ID to this 201',
  },
  {
    rule: 'house/response-headers',
    broken: 'an error without the request id',
    file: response('NotFound'),
    edit: cut(/headers:\n(?: {2}.*\n)+/u),
    also: ['house/idempotency-key'],
    at: 'description:',
    says: 'Add the header X-Request-ID to this 404',
  },
  {
    rule: 'house/response-headers',
    broken: 'a 401 that does not say how to authenticate',
    file: response('Unauthorized'),
    edit: cut(/ {2}WWW-Authenticate:\n.*\n/u),
    at: 'headers:',
    says: 'Add the header WWW-Authenticate',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/response-headers',
    broken: 'a 405 that does not say what is allowed',
    file: response('MethodNotAllowed'),
    edit: cut(/ {2}Allow:\n.*\n/u),
    at: 'headers:',
    says: 'Add the header Allow',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/response-headers',
    broken: 'a 429 that does not say when to come back',
    file: response('TooManyRequests'),
    edit: cut(/ {2}Retry-After:\n.*\n/u),
    at: 'headers:',
    says: 'Add the header Retry-After',
    also: ['house/no-orphans'],
  },
];
