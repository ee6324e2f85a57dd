// Schemas: valid and portable patterns, closed objects, the type of a resource, and limits of all that clients send. What is said
// of values is in values.test.ts.
import { operation, schema, testRule } from '../../support/lint-yaml.ts';

testRule('house/valid-schema', {
  'a pattern that is no regular expression': schema(
    'pattern: ^(a|b$ #! Fix the regular expression: Invalid regular',
  ),
  'a pattern that only works without the flag u': schema(
    String.raw`pattern: ^[0-9]\-$ #! Validators compile it with the flag "u".`,
  ),
  'a format that nobody checks': schema(
    'format: uid #! The format `uid` is not known here. Use one of: date, time,',
  ),
  'limits that nothing can keep': schema(`
anyOf:
  - { type: integer, maximum: 1, minimum: 9 } #! Nothing can be at least 9 and at most 1: correct \`minimum\` or \`maximum\`.
  - { type: string, maxLength: 1, minLength: 9 } #! correct \`minLength\` or \`maxLength\`.
  - { type: integer, maximum: 1, minimum: 1 }
`),
  'a list of values without one, and a name that is required twice': schema(`
type: object
required: [id, kind, id] #! \`id\` is listed twice. Remove one.
properties:
  id: {}
  kind: { enum: [] } #! This list is empty, so no value is allowed. Write the allowed values.
`),
  'an array of anything': schema(`
anyOf:
  - { type: [array, 'null'] } #! Say what this array holds: add \`items\`.
  - { type: array, items: {} }
  - { type: array, prefixItems: [{}] }
`),
  'a default that its schema refuses': schema(`
anyOf:
  - { type: integer, maximum: 100, default: 500 } #! The default does not match its schema: it must be <= 100.
  - { enum: [a, b], default: c } #! it must be equal to one of the allowed values.
  - { type: [integer, 'null'], maximum: 100, default: null }
`),
  'nullable beside a reference': `
components:
  schemas:
    Refund:
      $ref: '#/components/schemas/Reason'
      nullable: true #! anyOf: - $ref: #/components/schemas/Reason - type: 'null'
    Reason: {}
`,
  'required: true beside a reference': `
components:
  schemas:
    Refund:
      type: object
      properties:
        reason:
          $ref: '#/components/schemas/Reason'
          required: true #! \`required\` is a list of names.
    Reason: {}
`,
  'a keyword next to the $ref of a body, which the validator would ignore': `
paths:
  /refunds:
    post:
      requestBody:
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/Refund'
              description: The refund.
              maxProperties: 1 #! Next to the $ref of a body this is ignored. Move \`maxProperties\` into #/components/schemas/Refund.
components:
  schemas:
    Refund: {}
`,
});

testRule('rule/portable-pattern', {
  'a class whose meaning depends on the language': schema(
    String.raw`pattern: ^\d{2}$ #! Write the characters out, such as [0-9] instead of \d: other languages match more with it.`,
  ),
  'a backslash before a letter': schema(String.raw`pattern: ^\\d$`),
});

const close =
  'Close this object with "additionalProperties: false"; for a map, put the schema of its values there';

testRule('house/closed-object', {
  'an open object': schema(`description: A refund.\ntype: object #! ${close}`),
  'an open object within a list': schema(`items:\n  type: object #! ${close}\n  additionalProperties: true`),
  'an open object within anyOf': schema(`anyOf:\n  - properties: {} #! ${close}`),
  'an open alternative of a choice': schema(`type: object\noneOf:\n  - type: object #! ${close}`),
  'a required property that does not exist': schema(
    'required: [id, country] #! Define the required property "country", or do not require it.\nproperties: { id: {} }\nadditionalProperties: false',
  ),
  'a map, a choice, and a condition': schema(`
type: object
oneOf:
  - { type: object, additionalProperties: { type: string } }
  - { type: object, additionalProperties: false, not: { required: [a], properties: { a: {} } } }
`),
});

const resource =
  'A resource has a required "type" with a kebab-case const, such as "const: payment-method". Add it to';
/** `name` is that of the file. */
const resourceOf = (text: string, name = 'Refund') => ({
  'openapi.yaml': `components: { schemas: { X: { $ref: ./${name}.yaml } } }\n`,
  [`${name}.yaml`]: text,
});

testRule('house/resource-type', {
  'no type': resourceOf(`properties: { id: {} } #! ${resource} Refund.\n`),
  'a type that is optional': resourceOf(`properties: { id: {}, type: { const: refund } } #! ${resource}\n`),
  'a type that is any text': resourceOf(
    `required: [type]\nproperties: { id: {}, type: {} } #! ${resource}\n`,
  ),
});

const needs = 'Every input needs limits: give this';
const inBody = (text: string) =>
  operation(`
requestBody:
  content:
    application/json:
      schema:
        type: object
        properties:
          reason: ${text}
`);

testRule('house/bounded-input', {
  'a string': inBody(`{ type: string } #! ${needs} string a maxLength.`),
  'a pattern without an end': inBody(
    `{ type: string, pattern: '^[0-9]{4,}$' } #! ${needs} string a maxLength.`,
  ),
  'a list': inBody(`{ type: array } #! ${needs} array maxItems.`),
  'a number': inBody(`{ type: integer, minimum: 0 } #! ${needs} integer a minimum and a maximum.`),
  'a map': inBody(`{ type: object, additionalProperties: { type: boolean } } #! ${needs} map maxProperties.`),
  anything: inBody(`{ description: Any. } #! ${needs} schema a type.`),
  'an alternative within a list': inBody(
    `\n            type: array\n            maxItems: 9\n            items:\n              anyOf:\n                - type: string #! ${needs} string a maxLength.`,
  ),
  'a parameter': operation(
    `parameters:\n  - in: query\n    schema: { type: string } #! ${needs} string a maxLength.`,
  ),
});
