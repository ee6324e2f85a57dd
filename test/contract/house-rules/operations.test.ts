// What every operation declares: its name, its scope, our extensions, and the shape of a list.
import { operation, testRule, type Files } from '../../support/lint-yaml.ts';

testRule('house/operation-id', {
  'a GET lists or gets': operation('operationId: fetchRefunds #! begin with list or get, such as "listPay'),
  'a POST creates or checks': operation('operationId: storeRefund #! begin with create or check', 'post'),
  'a PUT updates': operation('operationId: replaceRefund #! begin with update', 'put'),
  'a DELETE deletes': operation('operationId: removeRefund #! begin with delete', 'delete'),
  'a method that the house does not use': `
paths:
  /refunds:
    options: #! This API has no options operations. Use get, post, put, patch, delete.
      operationId: getOptions
`,
  camelCase: operation('operationId: list_refunds #! must be camelCase'),
  'a webhook begins with on': `
webhooks:
  refund.created:
    post:
      operationId: refundCreated #! begin with on
`,
  'a name that is taken: by which operation, and where': `
paths:
  /refunds:
    post:
      operationId: listRefunds #! \`listRefunds\` is already the operationId of GET /refunds. Give this one a name of its own. The other is at openapi/openapi.yaml:7.
    get:
      operationId: listRefunds
webhooks:
  refund.created:
    post:
      operationId: listRefunds #! is already the operationId of GET /refunds.
`,
  'names that are right': `
paths:
  /refunds:
    get: { operationId: listRefunds }
    patch: { operationId: updateRefund }
webhooks:
  refund.created:
    post: { operationId: onRefundCreated }
`,
});

testRule('house/operation-scope', {
  'no security: the scope that it probably needs': `
paths:
  /refunds:
    get: #! Name the scope that listRefunds needs, such as "security: [{BearerAuth: [refunds.read]}]".
      operationId: listRefunds
    post: #! such as "security: [{BearerAuth: [refunds.write]}]".
      operationId: createRefund
`,
  'a scope that is neither read nor write': operation(
    'security: [BearerAuth: [refunds.list]] #! Each entry of security names one scope "<resource>.read"',
  ),
  'a scope of another resource': operation(
    'security: [BearerAuth: [refund.read]] #! The scope `refund.read` does not belong to /refunds. Did you mean `refunds.read`?',
  ),
  'two scopes in one alternative': operation(
    'security: [BearerAuth: [refunds.read, refunds.write]] #! names one scope',
  ),
  'an alternative without a scope': operation(`
security:
  - BearerAuth: [refunds.read]
  - {} #! names one scope
`),
  'a scope of its resource, or of the embedded form': operation(
    'security: [BearerAuth: [refunds.read], BearerAuth: [embed]]',
  ),
});

const limited = 'x-merchant-scope: one\nsecurity: [BearerAuth: [embed]]';
const deprecation = 'Write "deprecated: true" and "x-deprecation: {since: 2027-01-01, sunset: 2028-01-01}"';

testRule('house/extensions', {
  'no merchant scope': `
paths:
  /refunds:
    get: #! Set x-merchant-scope: none (no merchant account), one (a single account) or many
      operationId: listRefunds
`,
  'an unknown merchant scope': operation('x-merchant-scope: all #! many ("*" is allowed)'),
  'a rate limit without its window': operation(`
${limited}
x-rate-limit:
  scope: embed #! Write x-rate-limit as {scope: embed, limit: 50, window_seconds: 60}
  limit: 50
`),
  'a rate limit for a scope that the operation does not take': operation(`
${limited}
x-rate-limit: { scope: x.read, limit: 5, window_seconds: 60 } #! a scope that this operation names in its
`),
  'a velocity limit without a window': operation(`
x-merchant-scope: one
x-velocity-limit:
  cards: { limit: 300 } #! Write x-velocity-limit as {cards: {limit: 300, window_seconds: 60}
  same_bin_and_last_four: { limit: 20, window_seconds: 60 }
`),
  'a status reserved without a reason': operation(`
x-merchant-scope: one
x-reserved:
  '409': never #! a sentence that says why it never happens
responses: { '409': {} }
`),
  'a reserved status that is not declared': operation(`
x-merchant-scope: one
x-reserved:
  '409': A list refuses nothing. #! x-reserved of 409 needs a declared response 409
responses: {}
`),
  'an extension of an operation that nobody knows': operation(`
x-merchant-scope: one
x-internal: true #! Use one from docs/guides/api-designer.md, or add it there
`),
  'an extension of a schema':
    'components:\n  schemas:\n    Refund:\n      x-tags: [a] #! The extension x-tags is not',
  'a deprecation without dates': operation(`x-merchant-scope: one\ndeprecated: true #! ${deprecation}`),
  'an operation that ends within a year': operation(`
x-merchant-scope: one
deprecated: true #! with at least a year between them
x-deprecation: { since: 2027-01-01, sunset: 2027-12-31 }
`),
  'dates of an operation that is not deprecated': operation(`
x-merchant-scope: one
x-deprecation: { since: 2027-01-01, sunset: 2028-01-01 } #! ${deprecation}
`),
  'all of them, written well': operation(`
${limited}
x-rate-limit: { scope: embed, limit: 50, window_seconds: 60 }
x-velocity-limit:
  cards: { limit: 300, window_seconds: 60 }
  same_bin_and_last_four: { limit: 20, window_seconds: 60 }
deprecated: true
x-deprecation: { since: 2027-01-01, sunset: 2028-01-01 }
x-reserved: { '409': A list refuses nothing. }
responses: { '409': {} }
`),
});

const page = (schema: string, parameters = '[{ name: cursor, in: query }, { name: limit, in: query }]') =>
  operation(`
operationId: listRefunds
parameters: ${parameters}
responses:
  '200':
    content: { application/json: { schema: ${schema} } }
`);
const envelope = (required: string, more = '') =>
  `{ required: [${required}], properties: { items: { type: array }, limit: {}, next_cursor: {}, previous_cursor: {}${more} } }`;
const all = 'items, limit, next_cursor, previous_cursor';
const noEnvelope = ` #! listRefunds must have a 200 response with the collection envelope: required ${all}, nothing else`;
const list = page(envelope(all));

testRule('house/list-shape', {
  'no cursor': list
    .replace(/parameters: .*/, '$& #! add the query parameter cursor')
    .replace('name: cursor', 'name: c'),
  'a limit that is not in the query': list
    .replace(/parameters: .*/, '$& #! add the query parameter limit by $ref to components/parameters')
    .replace('limit, in: query', 'limit, in: header'),
  'an answer that is no collection': page('{ type: object }').replace(/content: .*/, `$&${noEnvelope}`),
  'an envelope whose cursor is optional': page(envelope('items, limit, next_cursor')).replace(
    /content: .*/,
    `$&${noEnvelope}`,
  ),
  'an envelope with a field of its own': page(envelope(all, ', total: {}')).replace(
    /content: .*/,
    `$&${noEnvelope}`,
  ),
  'a list': list,
  'a list whose response and parameters are shared': {
    'openapi.yaml': `
paths:
  /refunds:
    parameters: [{ name: cursor, in: query }, { $ref: ./Limit.yaml }]
    get:
      operationId: listRefunds
      responses: { '200': { $ref: ./Page.yaml } }
`,
    'Limit.yaml': 'name: limit\nin: query\n',
    'Page.yaml': `content: { application/json: { schema: ${envelope(all)} } }\n`,
  } satisfies Files,
  'a list that the specification does not page': operation('operationId: listCardSchemeDefinitions'),
});

const key = '{ name: Idempotency-Key, in: header }';
const writes = 'operationId: updateRefund\nsecurity: [BearerAuth: [refunds.write]]';
const marked = '{ headers: { Idempotency-Replayed: {} } }';

testRule('house/idempotency-key', {
  'a POST that writes and takes no key': operation(
    `${writes}\nparameters: [] #! updateRefund writes: add the parameter Idempotency-Key by $ref`,
    'post',
  ),
  'a PATCH that writes and takes no key': operation(
    `${writes}\nparameters: [] #! updateRefund writes`,
    'patch',
  ),
  'a key where nothing is written': operation(
    `operationId: checkRefund\nparameters: [${key}] #! checkRefund can be repeated without a key\nresponses: { '422': ${marked} }`,
    'post',
  ),
  'a PUT with a key': operation(
    `${writes}\nparameters: [${key}] #! updateRefund can be repeated without a key\nresponses: { '422': ${marked} }`,
    'put',
  ),
  'no 422 for a key of another request': operation(
    `${writes}\nparameters: [${key}]\nresponses: { '200': ${marked} } #! Declare 422 (the Idempotency-Key may belong`,
    'post',
  ),
  'an answer that does not say whether it is repeated': operation(
    `
${writes}
parameters: [${key}]
responses:
  '422': ${marked}
  '201':
    headers: {} #! Add the header Idempotency-Replayed to this 201, by $ref to components/headers.
`,
    'post',
  ),
});

testRule('rule/summary', {
  'a full stop': operation(
    'summary: List refunds. #! end it without a full stop, such as "List transactions"',
  ),
  'a small letter': operation('summary: list refunds #! Begin the summary with a capital letter'),
  'a summary': operation('summary: List refunds'),
});

const parameter = (text: string) => `components:\n  parameters:\n    Id:\n      name: id\n${text}`;
const required = 'A path parameter needs `required: true`.';

testRule('house/parameter-form', {
  'a path parameter that is not required': parameter(`      in: path #! ${required}`),
  'a path parameter that need not be there': parameter(
    `      in: path\n      required: false #! ${required}`,
  ),
  'a style of queries in a path': parameter(
    '      in: path\n      required: true\n      style: deepObject #! `style: deepObject` is not allowed here. Write matrix, label or simple.',
  ),
  'a style of paths in a query': parameter(
    '      in: query\n      style: simple #! is not allowed here. Write form, spaceDelimited, pipeDelimited or deepObject.',
  ),
  'a keyword of queries in a header': parameter(
    '      in: header\n      allowReserved: true #! `allowReserved` is not allowed here. Remove it.',
  ),
  'a style of queries in a header of a response': `
components:
  headers:
    Id:
      style: form #! \`style: form\` is not allowed here. Write simple.
`,
  'parameters of each place': `
components:
  parameters:
    A: { in: path, required: true, style: label }
    B: { in: query, style: deepObject, allowReserved: true }
    C: { in: header }
`,
});
