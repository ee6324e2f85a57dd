// The responses of every operation: the errors that can happen, in one shape, with the headers that clients need.
import { operation, testRule } from '../../support/lint-yaml.ts';

const statuses = [400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 504];

/** An operation with every error but one. */
const without = (status: number, says: string, more = 'x-merchant-scope: none', method = 'get') =>
  operation(
    `
${more}
responses: #! Declare ${status} (${says}
${statuses
  .filter((one) => one !== status)
  .map((one) => `  '${one}': {}`)
  .join('\n')}
`,
    method,
  );
const cursor = 'parameters: [{ name: cursor, in: query }]';
const key = 'parameters: [{ name: Idempotency-Key, in: header }]';
const absent =
  'what the request refers to may not exist) by $ref, such as to ../components/responses/NotFound.yaml';

/** An operation with every error, of which one is reserved. */
const reserved = (status: number, says = '', more = 'x-merchant-scope: none', method = 'get') =>
  operation(
    `
${more}
x-reserved:
  '${status}': The specification lists it.${says && ` #! ${says}`}
responses: { ${statuses.map((one) => `'${one}': {}`).join(', ')} }
`,
    method,
  );

testRule('house/errors', {
  'no 400': without(400, 'a request may be malformed) by $ref'),
  'no 401': without(401, 'every operation needs a token) by $ref'),
  'no 403': without(403, 'every operation needs a scope) by $ref'),
  'no 404 of an account': without(404, absent, 'x-merchant-scope: one'),
  'no 404 of a record': without(404, absent, 'parameters: [{ name: id, in: path }]'),
  'no 405': without(405, 'its path may be called with another method) by $ref'),
  'no 422 of a cursor, whatever the operation is called': without(
    422,
    'its cursor may belong to another',
    cursor,
  ),
  'no 422 of a key': without(422, 'its Idempotency-Key may belong to another request)', key, 'post'),
  'no 425 of a POST': without(425, 'it may arrive as early data)', '', 'post'),
  'no 425 of a DELETE': without(425, 'it may arrive as early data)', '', 'delete'),
  'no 429 of a rate limit': without(429, 'it has a limit)', 'x-rate-limit: {}'),
  'no 429 of a velocity limit': without(429, 'it has a limit)', 'x-velocity-limit: {}'),
  'no 500': without(500, 'anything may fail) by $ref, such as to ../components/responses/ServerError.yaml.'),
  'no 504': without(
    504,
    'the database may be away) by $ref, such as to ../components/responses/GatewayTimeout.',
  ),
  'a reserved status that is not declared': reserved(410, 'Declare 410, or do not reserve it.'),
  'a reserved 404 of an account': reserved(404, '404 can happen: what the request', 'x-merchant-scope: many'),
  'a reserved 422 of a cursor': reserved(422, '422 can happen: its cursor', cursor),
  'a reserved 422 of a key': reserved(422, '422 can happen: its Idempotency-Key', key, 'post'),
  'a reserved 425 of a POST': reserved(425, '425 can happen: it may arrive as early data', '', 'post'),
  'a reserved 429 of a rate limit': reserved(429, '429 can happen: it has a limit', 'x-rate-limit: {}'),
  'a reserved 400': reserved(400, '400 can happen: a request may be malformed. Do not reserve it.'),
  'a reserved 500': reserved(500, '500 can happen'),
  'a reserved 504': reserved(504, '504 can happen: the database may be away. Do not reserve it.'),
});

testRule('rule/errors-shared', {
  'an error that is written out': {
    'openapi.yaml': operation(`
responses:
  '404': { $ref: ./E.yaml }
  '500': {} #! Errors are shared: declare 500 by $ref to a file in components/responses
`),
    'E.yaml': 'description: An error.\n',
  },
});

testRule('rule/content', {
  'a 204 with a body': operation(
    "responses:\n  '204':\n    content: {} #! A 204 has no body: remove its content",
  ),
  'a 200 without a body': operation(
    "responses:\n  '200': {} #! A 200 has a body: give it content, or declare 204",
  ),
  'a body of no type': operation("responses:\n  '400':\n    content: {} #! A 400 has a body"),
  'both as they should be': operation(
    "responses:\n  '200': { content: { application/json: {} } }\n  '204': {}",
  ),
});

const body = (schema: string) => `content: { application/json: { schema: { $ref: ${schema} } } }`;
const schemas = {
  'schemas/Error.yaml': 'type: object\n',
  'schemas/ConflictError.yaml': 'type: object\n',
  'schemas/ValidationError.yaml': 'type: object\n',
};

testRule('rule/error-schema', {
  'an error in the shape of another': {
    ...schemas,
    'openapi.yaml': operation(`
responses:
  '403':
    ${body('./schemas/ConflictError.yaml')} #! Clients parse every error the same way. Give it the schema ../schemas/Error.yaml
  '409':
    ${body('./schemas/Error.yaml')} #! Clients parse every 409 the same way. Give it the schema ../schemas/ConflictError.yaml
  '422':
    ${body('./schemas/Error.yaml')} #! Clients parse every 422 the same way. Give it the schema ../schemas/ValidationError.yaml
`),
  },
  'an error without a shape': operation(`
responses:
  '403':
    content:
      application/json: {} #! Give it the schema ../schemas/Error.yaml
  '422':
    content:
      application/json: {} #! Give it the schema ../schemas/ValidationError.yaml
`),
});

testRule('rule/response-status', {
  'statuses that clients do not know': operation(
    "responses:\n  '200': {}\n  '402': {}\n  '499': {} #! \"499\" should be one of the predefined values\n  '600': {} #! Declare a status",
  ),
});

const read = 'A GET creates nothing and starts nothing: declare 200 instead.';

testRule('rule/read-status', {
  'a GET that answers as if it had created something': operation(`
responses:
  '200': {}
  '201': {} #! "201" is disallowed. ${read}
  '202': {} #! "202" is disallowed. ${read}
`),
  'not a POST': operation("responses: { '201': {} }", 'post'),
});

testRule('house/example-status', {
  'an example with the status of another response': {
    'openapi.yaml': operation("responses: { '409': { $ref: ./E.yaml } }"),
    'E.yaml': `content:
  application/json:
    examples:
      taken: { $ref: ./Taken.yaml }
      late: { $ref: ./Late.yaml } #! This response is a 409, and the status of its example "late" is 403
`,
    'Taken.yaml': 'value: { status: 409 }\n',
    'Late.yaml': 'value: { status: 403 }\n',
  },
  'not the status of a response that rule/response-status refuses': {
    'openapi.yaml': operation(
      'responses: { default: { content: { application/json: { examples: { a: { $ref: ./A.yaml } } } } } }',
    ),
    'A.yaml': 'value: { status: 409 }\n',
  },
});

testRule('rule/request-id', {
  'no headers': operation(
    "responses:\n  '201': {} #! Add the header X-Request-ID to this 201, by $ref to components/headers.",
  ),
  'other headers': operation(
    "responses:\n  '503':\n    headers: { Retry-After: {} } #! Add the header X-Request-ID to this 503",
  ),
});

testRule('response-contains-header', {
  'a 401 that does not say how to authenticate': operation(
    'responses:\n  \'401\':\n    headers: {} #! "WWW-Authenticate"',
  ),
  'a 405 that does not say what is allowed': operation('responses:\n  \'405\':\n    headers: {} #! "Allow"'),
  'a 429 that does not say when to come back': operation(
    'responses:\n  \'429\':\n    headers: {} #! "Retry-After"',
  ),
  'a 504 that does not say when to come back': operation(
    'responses:\n  \'504\':\n    headers: {} #! "Retry-After"',
  ),
});

const codes = (enumeration: string) => ({
  'openapi.yaml': operation(
    "responses: { '400': { content: { application/json: { schema: { $ref: ./components/schemas/ErrorCode.yaml } } } } }",
  ),
  'components/schemas/ErrorCode.yaml': `type: string\nenum:\n${enumeration}`,
  'components/examples/Failed.yaml': 'value:\n  code: failed\n',
});

testRule('house/error-code', {
  'a code that no example has': codes(
    '  - failed\n  - refund_too_late #! No example has this code: add components/examples/Error<Code>.yaml\n',
  ),
});
