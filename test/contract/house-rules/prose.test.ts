// Descriptions of all that readers see, and examples that readers copy and the mock serves.
import { operation, schema, testRule } from '../../support/lint-yaml.ts';

const describe = (what: string) => `#! Describe this ${what} for someone who has never seen the service.`;

testRule('rule/described', {
  'tags, servers and security schemes': `
tags:
  - name: Refunds ${describe('Tag')}
servers:
  - url: https://{instance}.example.com ${describe('Server')}
    variables:
      instance: { default: a }
components:
  securitySchemes:
    BearerAuth: { type: http } ${describe('SecurityScheme')}
`,
  operations: `
paths:
  /refunds:
    get:
      parameters: ${describe('Operation')}
        - name: a ${describe('Parameter')}
      requestBody: {} ${describe('RequestBody')}
      responses:
        '200': { description: '' } ${describe('Response')}
        '400':
          description: Wrong.
          headers:
            Allow: {} ${describe('Header')}
`,
  webhooks: `
webhooks:
  refund.created:
    post:
      description: It is there.
      responses:
        5XX: { description: ' ' } ${describe('Response')}
`,
});

testRule('house/described', {
  'a property, with or without a reference': schema(`
properties:
  city: {} ${describe('property')}
  at: { anyOf: [{ type: string, description: A time. }] } ${describe('property')}
  zip: { $ref: '#/components/schemas/Refund/properties/city' } ${describe('property')}
`),
  'a file of a schema': {
    'openapi.yaml': 'components: { schemas: { Refund: { $ref: ./Refund.yaml } } }\n',
    'Refund.yaml': `type: string ${describe('schema')}\n`,
  },
});

const answer = (text: string) =>
  operation(`
responses:
  '200':
    content:
      application/json: ${text}
`);
const named = 'Give this media type named examples by $ref to components/examples, the success case first.';

testRule('rule/examples', {
  'an answer without an example': answer(`{} #! ${named}`),
  'an example without a name': answer(`{ example: 1 } #! ${named} #! ${named}`),
  'a scenario that is not snake_case': {
    'openapi.yaml': answer(`
        examples:
          TooLate: { $ref: ./Late.yaml } #! "TooLate" should use snake_case: name the example after its scenario
`),
    'Late.yaml': 'summary: Late\nvalue: 1\n',
  },
  'an example without a summary': {
    'openapi.yaml': answer('{ examples: { late: { $ref: ./Late.yaml } } }'),
    'Late.yaml': 'value: 1 #! summary is required: the summary names the scenario in a few words\n',
  },
  'an example without a value': {
    'openapi.yaml': answer('{ examples: { late: { $ref: ./Late.yaml } } }'),
    'Late.yaml': 'summary: Late #! value is required\n',
  },
});

const content = (...names: string[]) =>
  `{ content: { application/json: { examples: {${names.map((name) => `${name}: {}`).join()}} } } }`;

testRule('house/paired-examples', {
  'a request whose answer is not shown': operation(`
requestBody: ${content('late')} #! The request example "late" must have exactly one response example of the same name
responses: { '201': ${content()} }
`),
  'a request with two answers': operation(`
requestBody: ${content('late')} #! must have exactly one response example
responses: { '201': ${content('late')}, '422': ${content('late')} }
`),
  'an answer whose request is not shown': operation(`
requestBody: ${content()}
responses:
  '201': ${content('late')} #! The response example "late" has no request example of the same name: add the request
`),
  'a request without a body needs none, nor does an empty answer': `
paths:
  /refunds:
    get: { responses: { '200': ${content('late')} } }
    put: { requestBody: ${content('late')}, responses: { '204': {} } }
`,
});
