// What every operation declares: its name, its scope, our extensions, and the shape of a list.
import { operation, testRule } from '../../support/lint-yaml.ts';

const verb = 'Write the operationId in camelCase, with the verb of its method first';

testRule('rule/operation-id', {
  'a GET lists or gets': operation(`operationId: fetchRefunds #! ${verb}`),
  'a PUT updates': operation(`operationId: replaceRefund #! ${verb}`, 'put'),
  'a DELETE deletes': operation(`operationId: removeRefund #! ${verb}`, 'delete'),
  camelCase: operation(`operationId: list_refunds #! ${verb}`),
  'a webhook begins with on': `
webhooks:
  refund.created:
    post:
      operationId: refundCreated #! Of an event: on.
`,
});

testRule('house/path-words', {
  'a path in the singular': `
paths:
  /refund: {} #! \`refund\` should be plural. Write it in the plural, here and in the name of its file.
  /refund/{refund_id}/notes: {} #! \`refund\` should be plural.
  /people/{id}/notes: {}
  /gift-cards/balance: {} #! \`balance\` should be plural.
`,
  'a POST creates or checks': operation(
    'operationId: storeRefund #! the operationId of POST /refunds in camelCase, with its verb first: create or check.',
    'post',
  ),
  'an action on a record is a POST, and its operationId begins with it': `
paths:
  /refunds/{refund_id}/cancel:
    post: { operationId: cancelRefund }
  /refunds/{refund_id}/check-in:
    post: { operationId: checkInRefund }
  /refunds/{refund_id}/process:
    post: { operationId: createRefund } #! with its verb first: process.
  /refunds/{refund_id}/note:
    get: { operationId: getNote } #! \`note\`, in the singular after an ID, is an action on that record, which is a POST.
`,
});

testRule('rule/methods', {
  'a method that the house does not use': `
paths:
  /refunds:
    options: {} #! "options" is disallowed. Use get, post, put, patch or delete, and write all else, such as parameters, in the operation.
`,
  'parameters of a path, which the generators do not know': `
paths:
  /refunds:
    parameters: [] #! "parameters" is disallowed. Use get, post, put, patch or delete, and write all else
    get: {}
`,
});

testRule('rule/read-body', {
  'a GET with a body': `
paths:
  /refunds:
    get:
      requestBody: {} #! "requestBody" is disallowed on a GET, whose body many programs drop. Write parameters instead.
    post:
      requestBody: {}
`,
});

const mustBeSent = 'Write `required: true`: without it, a request with no body at all reaches the handler.';

testRule('rule/body-required', {
  'a body that a request may lack': `
paths:
  /refunds:
    put:
      requestBody: {} #! ${mustBeSent}
    patch:
      requestBody: { required: false } #! ${mustBeSent}
    post:
      requestBody: { required: true }
`,
});

testRule('house/docs-list', {
  'two operations with one summary, and a section without an operation': `
tags:
  - { name: Refunds }
  - { name: Returns } #! No operation has this tag, so its section of the docs would be empty.
paths:
  /refunds:
    get: { operationId: listRefunds, tags: [Refunds], summary: List refunds }
    post: { operationId: createRefund, summary: List refunds } #! listRefunds has this summary, too, so readers of the docs cannot tell
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
});

testRule('rule/merchant-scope', {
  'no merchant scope': operation(
    'operationId: listRefunds #! Set x-merchant-scope: none (no merchant account), one (a single account) or many',
  ),
  'an unknown merchant scope': operation('x-merchant-scope: all #! many ("*" is allowed)'),
});

testRule('rule/rate-limit', {
  'a rate limit without its window': operation(`
x-rate-limit:
  scope: embed #! Write x-rate-limit as {scope: embed, limit: 50, window_seconds: 60}
  limit: 50
`),
  'a rate limit that is a number': operation('x-rate-limit: 50 #! Write x-rate-limit as {scope: embed'),
  'a rate limit with another key': operation(`
x-rate-limit:
  scope: embed
  limit: 50
  window_seconds: 60
  burst: 5 #! Write x-rate-limit as
`),
});

const velocity = (cards: string) =>
  operation(`
x-velocity-limit:
  cards: ${cards}
  same_bin_and_last_four: { limit: 20, window_seconds: 60 }
`);

testRule('rule/velocity-limit', {
  'a velocity limit without a window': velocity(
    '{ limit: 300 } #! Write x-velocity-limit as {cards: {limit: 3',
  ),
  'a velocity limit of something else': velocity(
    '{ limit: 300, window_seconds: 60 }\n  buyers: { limit: 300, window_seconds: 60 } #! Write x-velocity-limit as',
  ),
});

testRule('rule/reserved', {
  'a status reserved without a reason': operation(
    "x-reserved:\n  '409': never #! Name statuses in x-reserved that never happen, each with a sentence",
  ),
  'statuses without reasons': operation("x-reserved:\n  - '409' #! each with a sentence that says why"),
});

const limited = 'security: [BearerAuth: [embed]]';
const deprecation = 'Write "deprecated: true" and "x-deprecation: {since: 2027-01-01, sunset: 2028-01-01}"';

testRule('house/extensions', {
  'a rate limit for a scope that the operation does not take': operation(
    `${limited}\nx-rate-limit: { scope: x.read } #! a scope into x-rate-limit that this operation names in its security`,
  ),
  'an extension of an operation that nobody knows': operation(
    'x-internal: true #! Use one from docs/guides/api-designer.md, or add it there',
  ),
  'an extension of a schema':
    'components:\n  schemas:\n    Refund:\n      x-tags: [a] #! The extension x-tags is not',
  'a deprecation without dates': operation(`deprecated: true #! ${deprecation}`),
  'an operation that ends within a year': operation(`
deprecated: true #! with at least a year between them
x-deprecation: { since: 2027-01-01, sunset: 2027-12-31 }
`),
  'a deprecation with another key': operation(`
deprecated: true #! ${deprecation}
x-deprecation: { since: 2027-01-01, sunset: 2028-01-01, reason: It is old. }
`),
  'dates of an operation that is not deprecated': operation(
    `x-deprecation: { since: 2027-01-01, sunset: 2028-01-01 } #! ${deprecation}`,
  ),
  'all of them, written well': operation(`
${limited}
x-merchant-scope: one
x-rate-limit: { scope: embed }
x-velocity-limit: {}
deprecated: true
x-deprecation: { since: 2027-01-01, sunset: 2028-01-01 }
x-reserved: {}
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
  'an example, which tools send': operation(
    `
${writes}
parameters:
  - name: Idempotency-Key
    in: header
    example: a #! Remove the example of Idempotency-Key: tools send it as it is
responses: { '201': ${marked} }
`,
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
  '504':
    headers: {} #! Add the header Idempotency-Replayed to this 504
`,
    'post',
  ),
});

testRule('rule/summary', {
  'a full stop': operation(
    'summary: List refunds. #! end it without a full stop, such as "List transactions"',
  ),
  'a small letter': operation('summary: list refunds #! Begin the summary with a capital letter'),
});

const parameter = (text: string) => `components:\n  parameters:\n    Id:\n      name: id\n${text}`;
const required = 'A path parameter needs `required: true`.';

testRule('rule/path-parameter', {
  'a path parameter that is not required': parameter(`      in: path #! ${required}`).replace(
    /(name: id)\n(.*) (#!.*)/,
    '$1 $3\n$2',
  ),
  'a path parameter that need not be there': parameter(
    `      in: path\n      required: false #! ${required}`,
  ),
  'parameters of each place': parameter('      in: path\n      required: true\n    B: { in: query }'),
});

testRule('rule/parameter', {
  'a style of queries in a path': parameter(
    '      in: path\n      style: deepObject #! "deepObject" should be one of the predefined values. In a path write matrix,',
  ),
  'a style of paths in a query': parameter(
    '      in: query\n      style: simple #! in a query form, spaceDelimited, pipeDelimited or deepObject',
  ),
  'a style of headers in a cookie': parameter(
    '      in: cookie\n      style: simple #! in a header simple; in a cookie form.',
  ),
  'a keyword of queries in a header': parameter(
    '      in: header\n      allowReserved: true #! `allowReserved` is only allowed in a query. Remove it.',
  ),
  'a style of queries in a header of a response': `
components:
  headers:
    Id:
      style: form #! "form" should be one of the predefined values. Write simple.
`,
  'parameters of each place': `
components:
  parameters:
    A: { in: path, style: label }
    B: { in: query, style: deepObject, allowReserved: true }
    C: { in: header }
    D: { in: cookie, style: form }
`,
});
