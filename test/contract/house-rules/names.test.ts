// Names of properties, parameters and files, and files that nothing uses.
import { operation, schema, testRule } from '../../support/lint-yaml.ts';

testRule('rule/snake-case', {
  'a property in camelCase': schema(
    'properties:\n  issuerCountry: {} #! "issuerCountry" should use snake_case. Write it in snake_case, such as issuer_country.',
  ),
  'a property of a nested object in kebab-case': schema(`
properties:
  more:
    properties:
      error-code: {} #! "error-code" should use snake_case.
`),
  'a query parameter in camelCase': operation(
    'parameters:\n  - in: query\n    name: buyerId #! "buyerId" should use snake_case.',
  ),
});

const path =
  'Write this path in lower case, with hyphens, and no slash at its end, here and in the name of its file: /payment-methods.';

testRule('rule/path-name', {
  'a path in snake_case, and one in camelCase': `
paths:
  /gift_cards: {} #! ${path}
  /giftCards/{card_id}: {} #! ${path}
  /gift-cards/: {} #! ${path}
  /gift-cards/{card_id}/balances: {}
`,
});

const event =
  'Name the event after the resource and what happened to it, in lower case, here, in the name of its file';

testRule('rule/event-name', {
  'an event in camelCase, and one without what happened': `
webhooks:
  giftCardCreated: {} #! ${event} and in the \`name\` of its schema: payment-method.created.
  gift-card: {} #! ${event}
  gift-card.card_number.updated: {}
`,
});

testRule('operation-operationId-unique', {
  'a name that is taken': `
paths:
  /refunds:
    get: { operationId: listRefunds }
webhooks:
  refund.created:
    post:
      operationId: listRefunds #! Every operation must have a unique \`operationId\`. Give this one a name of its own.
`,
});

const refund = 'components/schemas/Refund.yaml';
const text = 'type: string\n';
/** A schema that refers to another file. */
const using = (ref: string) => ({
  'openapi.yaml': 'components: { schemas: { Refund: { $ref: ./components/schemas/Refund.yaml } } }\n',
  [refund]: `properties:\n  reason:\n    $ref: ${ref}\n`,
});

testRule('house/component-name', {
  'a component file that is not PascalCase, once': {
    ...using(
      './refund-reason.yaml #! Rename the file "refund-reason.yaml" to "RefundReason.yaml", here and wherever',
    ),
    [refund]: `
properties:
  reason:
    $ref: ./refund-reason.yaml #! Rename the file "refund-reason.yaml" to "RefundReason.yaml", here and wherever
  again:
    $ref: ./refund-reason.yaml
`,
    'components/schemas/refund-reason.yaml': text,
  },
  'a schema among the parameters': {
    ...using('../parameters/Reason.yaml #! Move this file to components/schemas/, the folder of its kind.'),
    'components/parameters/Reason.yaml': text,
  },
  'a reference into a file': {
    ...using(
      './Reason.yaml#/items #! Refer to a whole file in components/schemas/, such as PaymentMethod.yaml.',
    ),
    'components/schemas/Reason.yaml': 'items: {}\n',
  },
  'a path file that is not called like its path': {
    'openapi.yaml': `
paths:
  /refunds/{refund_id}/notes:
    $ref: ./paths/refund.yaml #! Name the file after its path or event: "refunds_{refund_id}_notes.yaml" for
`,
    'paths/refund.yaml': 'summary: Nothing yet\n',
  },
  'a path that is written out': operation('summary: Nothing yet').replace(
    '/refunds:',
    '$& #! Move this path to a file of its own, in the folder of its kind, and refer to it by $ref.',
  ),
  'not that of a path or an event that needs another name itself': {
    'openapi.yaml': `
paths:
  /giftCards: { $ref: ./paths/gift-cards.yaml }
webhooks:
  giftCardCreated: { $ref: ./webhooks/gift-card.created.yaml }
`,
    'paths/gift-cards.yaml': 'summary: Nothing yet\n',
    'webhooks/gift-card.created.yaml': 'summary: Nothing yet\n',
  },
  'a component called otherwise than its file': {
    'openapi.yaml': `
components:
  schemas:
    Refnd:
      $ref: ./components/schemas/Refund.yaml #! Give this component the name of its file: "Refund".
`,
    [refund]: text,
  },
});

testRule('rule/own-file', {
  'a parameter, a header, a schema and an example that are written out': operation(`
parameters:
  - name: shop #! Move this Parameter to a file of its own, in the folder of its kind, and refer to it by $ref.
responses:
  '200':
    headers:
      X-Reason: {} #! Move this Header to a file of its own
    content:
      application/json:
        schema: {} #! Move this schema to a file in components/schemas/ and refer to it by $ref, so that its type has a
        examples:
          late: {} #! Move this Example to a file of its own
`),
});

const orphan = 'Nothing refers to this file. Refer to it, or delete it;';
const withIt = 'Only unused files refer to this file. It goes with them.';

testRule('house/no-orphans', {
  'a file that nothing refers to': { [refund]: `${text.trim()} #! ${orphan}\n` },
  'a file that is only listed in the root file': {
    'openapi.yaml': 'components: { schemas: { Refund: { $ref: ./components/schemas/Refund.yaml } } }\n',
    [refund]: `${text.trim()} #! ${orphan}\n`,
  },
  'a path that is not mapped, and not the files that only it refers to': {
    'paths/refunds_{refund_id}_notes.yaml': `
$ref: ../components/schemas/Refund.yaml #! Map it in openapi/openapi.yaml, below \`paths:\`, or delete it: /refunds/{refund_id}/notes: $ref: ./paths/refunds_{refund_id}_notes.yaml
`.trim(),
    [refund]: text,
  },
  'files that only refer to each other': {
    'components/schemas/One.yaml': `items: { $ref: ./Two.yaml } #! ${withIt}\n`,
    'components/schemas/Two.yaml': `items: { $ref: ./One.yaml } #! ${withIt}\n`,
  },
  'all that goes with an unused file, and what goes with that': {
    'components/schemas/One.yaml': `items: { $ref: ./Two.yaml } #! ${orphan}\n`,
    'components/schemas/Two.yaml': `items: { $ref: ./Three.yaml } #! ${withIt}\n`,
    'components/schemas/Three.yaml': `type: string #! ${withIt}\n`,
  },
  'nothing, while a reference leads nowhere that may have led to the file': {
    'openapi.yaml': 'paths: { /refunds: { $ref: ./paths/refnds.yaml } }\n',
    [refund]: text,
  },
});
