// Values: keywords that fit their type, names of enum values and events, whole amounts, and fields that responses always have.
import { operation, schema, testRule } from '../../support/lint-yaml.ts';

const correct = 'or correct the type.';

testRule('house/keyword-type', {
  'a limit for another type, with the one that was meant': schema(`
type: integer
maxLength: 3 #! \`maxLength\` is for a string: on an integer it has no effect. Write \`maximum\`, ${correct}
`),
  'the same of other types, which may be null': schema(`
anyOf:
  - type: [string, 'null']
    minimum: 1 #! \`minimum\` is for a number: on a string it has no effect. Write \`minLength\`, ${correct}
  - type: array
    maxLength: 3 #! \`maxLength\` is for a string: on an array it has no effect. Write \`maxItems\`, ${correct}
  - type: object
    maxItems: 3 #! \`maxItems\` is for an array: on an object it has no effect. Write \`maxProperties\`, ${correct}
`),
  'a keyword for another type': schema(`
type: boolean
minLength: 1 #! \`minLength\` is for a string: on a boolean it has no effect. Remove it, ${correct}
pattern: ^a$ #! \`pattern\` is for a string: on a boolean it has no effect. Remove it, ${correct}
properties: {} #! \`properties\` is for an object: on a boolean it has no effect. Remove it, ${correct}
`),
  'a format of another type': schema(`
anyOf:
  - type: integer
    format: uuid #! \`format: uuid\` is for a string: on an integer it has no effect. Remove it, ${correct}
  - type: string
    format: int64 #! \`format: int64\` is for a number: on a string it has no effect. Remove it, ${correct}
`),
  'not one for one of several types, nor one without a type': schema(`
anyOf:
  - { type: [string, integer], maxLength: 3, maximum: 3, format: uuid }
  - { type: integer, format: int64, default: 1, enum: [1] }
  - { maxLength: 3, maxItems: 3 }
`),
});

const value = (name: string) =>
  `#! Write this value in lower case, with underscores: \`${name}\`. One that others prescribe is listed in redocly.yaml, below house/enum-value.`;

testRule('house/enum-value', {
  'upper case, spaces and dots, each at its line': schema(`
enum:
  - open
  - Closed ${value('closed')}
  - inReview ${value('in_review')}
  - sent back ${value('sent_back')}
  - refund.lost ${value('refund_lost')}
`),
  'not the names of algorithms, numbers and null': schema(
    'enum: [ECDSA, RSA, in_review, google-pay, 1.5, null]',
  ),
});

const whole =
  '#! An amount is an integer in the smallest unit of its currency, such as cents. Write "$ref: ./Amount.yaml", or "type: integer".';

testRule('house/amount', {
  'a field': schema(`
properties:
  amount:
    type: number ${whole}
  captured_amount:
    description: What was captured.
    type: [string, 'null'] ${whole}
  balance:
    anyOf:
      - type: object ${whole}
      - type: 'null'
  amount_of_retries: { type: number }
`),
  'the schema that many fields share, once': `
components:
  schemas:
    Refund:
      properties:
        amount: { $ref: '#/components/schemas/Amount' }
        balance: { anyOf: [{ $ref: '#/components/schemas/Amount' }, { type: 'null' }] }
    Amount:
      type: number ${whole}
`,
  'a filter': operation(`
parameters:
  - name: amount_gte
    schema:
      type: number ${whole}
  - name: amount_lte
    schema: { type: integer }
`),
});

const dated =
  '#! A time is a text with date and time zone. Write "$ref: ./Timestamp.yaml", or add "format: date-time" to "type: string".';

testRule('house/time', {
  'a field whose name says so': schema(`
properties:
  paid_at:
    type: string ${dated}
  created_at:
    anyOf:
      - type: integer ${dated}
      - type: 'null'
  updated_at: { type: [string, 'null'], format: date-time }
  look_at_me: { type: string }
`),
  'a filter': operation(`
parameters:
  - name: paid_at_gte
    schema:
      format: date
      type: string ${dated}
  - name: paid_at_lte
    schema: { type: string, format: date-time }
`),
});

testRule('house/event-name', {
  'the name of the event that it was copied from': {
    'openapi.yaml': `
webhooks:
  refund.created:
    post:
      requestBody: { content: { application/json: { schema: { $ref: ./RefundCreatedEvent.yaml } } } }
  refund.updated:
    post:
      requestBody: { content: { application/json: { schema: { $ref: ./RefundUpdatedEvent.yaml } } } }
  ping.sent:
    post:
      requestBody: { content: { application/json: { schema: { type: object } } } }
  # Needs another name itself.
  refundCreated:
    post:
      requestBody: { content: { application/json: { schema: { $ref: ./RefundCreatedEvent.yaml } } } }
`,
    'RefundCreatedEvent.yaml': 'properties: { name: { const: refund.created } }\n',
    'RefundUpdatedEvent.yaml':
      'properties:\n  name:\n    const: refund.created #! This is the event refund.updated: write that name here, in the description, and in the example.\n',
  },
});

testRule('house/event-name', {
  'the schema of another event': `
webhooks:
  refund.created:
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/RefundCreatedEvent' } } } }
  refund.updated:
    post:
      requestBody:
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/RefundCreatedEvent' #! This is the schema of the event refund.created. Copy the file, write refund.updated into the copy, and refer to that;
components:
  schemas:
    RefundCreatedEvent: { properties: { name: { const: refund.created } } }
`,
});

const absent = (name: string) =>
  `#! A response always has every field. Add \`${name}\` to \`required\`, and allow null if it may have no value: type: [string, 'null']. If it must be absent at times, list`;
const answer = (schemas: string) => ({
  'openapi.yaml': operation(`
requestBody: { content: { application/json: { schema: { type: object, properties: { id: {} } } } } }
responses:
  '200':
    content:
      application/json:
        schema: { $ref: ./Refund.yaml }
`),
  'Refund.yaml': schemas,
});

testRule('house/always-present', {
  'a field of a response, and not of a request': answer(`
type: object
required: [id]
properties:
  id: {}
  note: {} ${absent('note')} Refund.note with the reason in redocly.yaml, below house/always-present.
`),
  'a field of an object in a list': answer(`
type: object
required: [items]
properties:
  items:
    items:
      type: [object, 'null']
      properties:
        note: {} ${absent('note')}
`),
  'a field of an event': {
    'openapi.yaml': `
webhooks:
  refund.created:
    post:
      requestBody: { content: { application/json: { schema: { $ref: ./RefundCreated.yaml } } } }
`,
    'RefundCreated.yaml': `
type: object
properties:
  target: {} ${absent('target')} RefundCreated.target
`,
  },
  'not what redocly.yaml lists, nor a condition': {
    ...answer(`
type: object
required: [pair]
properties:
  pair: { $ref: ./ApiKeyPair.yaml }
then: { properties: { note: {} } }
`),
    'ApiKeyPair.yaml': 'type: object\nproperties: { private_key: {} }\n',
  },
});
