// The responses of every operation: the errors that can happen, in one shape, with the headers that clients need.
import { operation, testRule, type Files } from '../../support/lint-yaml.ts';

/** An operation with every error but one. */
const without = (status: number, why: string, more = '', method = 'get') =>
  operation(
    `
x-merchant-scope: one
${more}
responses: #! Declare ${status} (${why}) by $ref to ../components/responses/
${[400, 401, 403, 404, 405, 422, 425, 429, 500]
  .filter((one) => one !== status)
  .map((one) => `  '${one}': { $ref: './E.yaml' }`)
  .join('\n')}
`,
    method,
  );
const cursor = 'parameters: [{ name: cursor, in: query }]';
const files = (text: string): Files => ({ 'openapi.yaml': text, 'E.yaml': 'description: An error.\n' });

testRule('house/shared-errors', {
  'no 400': files(without(400, 'it has input', cursor)),
  'no 401': files(without(401, 'every operation needs a token')),
  'no 403': files(without(403, 'every operation needs a scope')),
  'no 404 of an account': files(without(404, 'what the request refers to may not exist')),
  'no 404 of a path parameter': files(
    without(404, 'what the request refers to may not exist', 'parameters: [{ name: id, in: path }]').replace(
      'x-merchant-scope: one',
      'x-merchant-scope: none',
    ),
  ),
  'no 405': files(without(405, 'its path may be called with another method')),
  'no 422 of a cursor': files(without(422, 'its cursor may belong to another list', cursor)),
  'no 425 of a POST': files(without(425, 'a POST may arrive as early data', '', 'post')),
  'no 425 of a DELETE': files(without(425, 'a DELETE may arrive as early data', '', 'delete')),
  'no 429 of a rate limit': files(without(429, 'it has a rate limit', 'x-rate-limit: {}')),
  'no 429 of a velocity limit': files(without(429, 'it has a rate limit', 'x-velocity-limit: {}')),
  'no 500': files(without(500, 'anything may fail')),
  'several of them missing: one message': files(
    operation(`
x-merchant-scope: none
responses: #! 500 (anything may fail) by $ref to ../components/responses/MethodNotAllowed.yaml, ../components/responses/ServerError.yaml, and do not reserve them.
  '401': { $ref: ./E.yaml }
  '403': { $ref: ./E.yaml }
`),
  ),
  'a needed status that is reserved': files(
    operation(`
x-merchant-scope: none
x-reserved: { '500': It never fails. }
responses: #! Declare 500 (anything may fail) by $ref to ../components/responses/ServerError.yaml, and do not reserve it.
  '401': { $ref: ./E.yaml }
  '403': { $ref: ./E.yaml }
  '405': { $ref: ./E.yaml }
  '500': { $ref: ./E.yaml }
`),
  ),
  'an error that is written out': files(
    without(429, '', 'parameters: []')
      .replace(/ #!.*/, '')
      .replace(
        /'500'.*/,
        "'500': { description: No. } #! declare 500 by $ref to a file in components/responses",
      ),
  ),
});

testRule('house/content', {
  'a 204 with a body': operation(
    "responses:\n  '204': { content: {} } #! A 204 has no body: remove its content",
  ),
  'a 200 without a body': operation(
    "responses:\n  '200': {} #! A 200 has a body: give it content, or declare 204",
  ),
  'both as they should be': operation("responses:\n  '200': { content: {} }\n  '204': {}"),
});

const body = (schema: string) => `content: { application/json: { schema: { $ref: ${schema} } } }`;
const schemas = {
  'schemas/Error.yaml': 'type: object\n',
  'schemas/ConflictError.yaml': 'type: object\n',
  'schemas/ValidationError.yaml': 'type: object\n',
};
const same = 'Clients parse every';

testRule('house/error-schema', {
  'an error in the shape of another': {
    ...schemas,
    'openapi.yaml': operation(`
responses:
  '403':
    ${body('./schemas/ConflictError.yaml')} #! ${same} 403 the same way: give it the schema ../schemas/Error.yaml
  '409':
    ${body('./schemas/Error.yaml')} #! ${same} 409 the same way: give it the schema ../schemas/ConflictError.yaml
  '422':
    ${body('./schemas/Error.yaml')} #! ${same} 422 the same way: give it the schema ../schemas/ValidationError.yaml
`),
  },
  'an error without a body': operation(`responses:\n  '403': {} #! ../schemas/Error.yaml`),
  'errors in their shapes': {
    ...schemas,
    'openapi.yaml': operation(`
responses:
  '403': { ${body('./schemas/Error.yaml')} }
  '409': { ${body('./schemas/ConflictError.yaml')} }
  '422': { ${body('./schemas/ValidationError.yaml')} }
`),
  },
  'a fault of a shared response is said once': {
    'openapi.yaml': `
paths:
  /refunds:
    get: { responses: { '403': { $ref: ./E.yaml } } }
    post: { responses: { '403': { $ref: ./E.yaml } } }
`,
    'E.yaml': 'description: An error. #! ../schemas/Error.yaml\n',
  },
});

testRule('house/response-status', {
  'statuses that HTTP does not define': operation(
    "responses:\n  '200': {}\n  '499': {} #! HTTP defines no status 499\n  '600': {} #! HTTP defines no status 600",
  ),
  'an example with the status of another response': {
    'openapi.yaml': operation("responses: { '409': { $ref: ./E.yaml } }"),
    'E.yaml': `content:
  application/json:
    examples:
      taken: { $ref: ./Taken.yaml }
      late: { $ref: ./Late.yaml } #! This response is a 409, and the status of its example "late" is 403
`,
    'Taken.yaml': 'value: { status: 409 }\n',
    'Late.yaml': 'value: { $ref: ./Taken.yaml#/value, status: 403 }\n',
  },
});

testRule('house/response-headers', {
  'no request ID': operation(
    "responses:\n  '201': {} #! Add the header X-Request-ID to this 201, by $ref to comp",
  ),
  'a 401 that does not say how to authenticate': operation(
    "responses:\n  '401':\n    headers: { x-request-id: {} } #! Add the header WWW-Authenticate to this 401",
  ),
  'a 405 that does not say what is allowed': operation(
    "responses:\n  '405':\n    headers: { x-request-id: {} } #! Add the header Allow",
  ),
  'a 429 that does not say when to come back': operation(
    "responses:\n  '429':\n    headers: { x-request-id: {} } #! Add the header Retry-After",
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
