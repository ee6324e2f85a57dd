// The responses of every operation: the errors that can happen, in one shape, with the headers that clients need.
import { operation, testRule, type Files } from '../../support/lint-yaml.ts';

/** An operation with every error but one. */
const without = (status: number, more = '', method = 'get') =>
  operation(
    `
x-merchant-scope: one
${more}
responses: #! Declare each error that can happen, by $ref to components/responses: ${status} is required.
${[400, 401, 403, 404, 405, 425, 429, 500]
  .filter((one) => one !== status)
  .map((one) => `  '${one}': { $ref: './E.yaml' }`)
  .join('\n')}
`,
    method,
  );
const files = (text: string): Files => ({ 'openapi.yaml': text, 'E.yaml': 'description: An error.\n' });

testRule('rule/errors', {
  'no 400': files(without(400, 'parameters: []')),
  'no 401': files(without(401)),
  'no 403': files(without(403)),
  'no 404 of an account': files(without(404)),
  'no 404 of a record': files(
    without(404).replace('/refunds', '/refunds/{refund_id}').replace('scope: one', 'scope: none'),
  ),
  'no 405': files(without(405)),
  'no 425 of a POST': files(without(425, '', 'post')),
  'no 425 of a DELETE': files(without(425, '', 'delete')),
  'no 429 of a rate limit': files(without(429, 'x-rate-limit: {}')),
  'no 429 of a velocity limit': files(without(429, 'x-velocity-limit: {}')),
  'no 500': files(without(500)),
  'an error that is written out': files(
    without(429)
      .replace(/ #!.*/, '')
      .replace(
        /'500'.*/,
        "'500': { description: No. } #! declare 500 by $ref to a file in components/responses",
      ),
  ),
});

testRule('rule/content', {
  'a 204 with a body': operation(
    "responses:\n  '204':\n    content: {} #! A 204 has no body: remove its content",
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
  'errors in their shapes': {
    ...schemas,
    'openapi.yaml': operation(`
responses:
  '403': { ${body('./schemas/Error.yaml')} }
  '409': { ${body('./schemas/ConflictError.yaml')} }
  '422': { ${body('./schemas/ValidationError.yaml')} }
`),
  },
});

testRule('rule/response-status', {
  'statuses that clients do not know': operation(
    "responses:\n  '200': {}\n  '499': {} #! \"499\" should be one of the predefined values\n  '600': {} #! Declare a status",
  ),
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
    'Late.yaml': 'value: { $ref: ./Taken.yaml#/value, status: 403 }\n',
  },
});

testRule('response-contains-header', {
  'no request ID': operation(
    'responses:\n  \'201\': {} #! must contain a "X-Request-ID" header. Add it by $ref to components/headers.',
  ),
  'a 401 that does not say how to authenticate': operation(
    'responses:\n  \'401\':\n    headers: { x-request-id: {} } #! "WWW-Authenticate"',
  ),
  'a 405 that does not say what is allowed': operation(
    'responses:\n  \'405\':\n    headers: { x-request-id: {} } #! "Allow"',
  ),
  'a 429 that does not say when to come back': operation(
    'responses:\n  \'429\':\n    headers: { x-request-id: {} } #! "Retry-After"',
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
