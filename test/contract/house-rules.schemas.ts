/** Broken schemas, each with the rule that must report it. */
import { add, cut, swap } from '../support/contract-copy.ts';
import type { Fixture } from './house-rules.test.ts';

const schema = (name: string) => `components/schemas/${name}.yaml`;
const parameter = (name: string) => `components/parameters/${name}.yaml`;
const unbounded = (what: string, file: string, edit: Fixture['edit'], at: string): Fixture => ({
  rule: 'house/bounded-input',
  broken: `${what} is missing`,
  file,
  edit,
  at,
  says: `give this ${what}`,
});
const shop = 'name: shop\nin: query\ndescription: The shop.\nschema:\n  type: string\n';

export const schemas: Fixture[] = [
  {
    rule: 'house/valid-schema',
    broken: 'a pattern that is not a regular expression',
    file: schema('RolePermissions'),
    edit: swap(/pattern: .*/u, 'pattern: ^(a|b$'),
    at: 'pattern:',
    says: 'Fix the regular expression',
    also: ['no-invalid-media-type-examples'],
  },
  {
    rule: 'house/valid-schema',
    broken: 'a pattern that only works without the flag u',
    file: parameter('WebhookTimestamp'),
    edit: swap('pattern: ^[0-9]+$', String.raw`pattern: ^[0-9]\-$`),
    at: 'pattern:',
    says: 'with the flag "u"',
    also: ['no-invalid-parameter-examples'],
  },
  {
    rule: 'house/valid-schema',
    broken: 'a minimum above the maximum',
    file: parameter('Limit'),
    edit: swap('minimum: 1', 'minimum: 101'),
    at: 'minimum: 101',
    says: 'minimum 101 is more than maximum 100',
  },
  {
    rule: 'house/portable-pattern',
    broken: 'a class whose meaning depends on the language',
    file: schema('ExpirationDate'),
    edit: swap('^[0-9]{2}/', String.raw`^\d{2}/`),
    at: 'pattern:',
    says: 'such as [0-9]',
  },
  {
    rule: 'house/closed-object',
    broken: 'an open alternative of a choice',
    file: schema('GiftCardBalanceStored'),
    edit: cut('additionalProperties: false\n'),
    at: 'type: object',
    says: 'Close this object',
  },
  {
    rule: 'house/closed-object',
    broken: 'an open object',
    file: schema('Address'),
    edit: cut('additionalProperties: false\n'),
    at: 'type: object',
    says: 'Close this object with "additionalProperties: false"',
  },
  {
    rule: 'house/closed-object',
    broken: 'an open object within a list',
    file: schema('GiftCardBalanceCollection'),
    edit: swap('$ref: ./GiftCardBalance.yaml', 'type: object\n      additionalProperties: true'),
    at: 'type: object',
    says: 'Close this object',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/closed-object',
    broken: 'an open object within anyOf',
    file: schema('Buyer'),
    edit: swap("      - type: 'null'", "      - properties: {}\n      - type: 'null'"),
    at: '- properties: {}',
    says: 'Close this object',
  },
  {
    rule: 'house/closed-object',
    broken: 'a required property that does not exist',
    file: schema('TaxId'),
    edit: swap('[value, kind]', '[value, kind, country]'),
    at: 'country',
    says: 'Define the required property "country"',
  },
  {
    rule: 'house/resource-type',
    broken: 'a resource without a type',
    file: schema('PaymentService'),
    edit: (text) => cut(/ {2}type:\n.*\n.*\n.*\n/u)(swap('[type, id', '[id')(text)),
    at: 'properties:',
    says: 'such as "const: payment-method". Add it to PaymentService',
    also: ['no-invalid-media-type-examples'],
  },
  {
    rule: 'house/resource-type',
    broken: 'a resource whose type is optional',
    file: schema('RedeemedGiftCard'),
    edit: swap('[type, id', '[id'),
    at: 'properties:',
    says: 'a required "type"',
  },
  {
    rule: 'house/resource-type',
    broken: 'a resource whose type is any text',
    file: schema('Role'),
    edit: cut('    const: role\n'),
    at: 'properties:',
    says: 'a kebab-case const',
  },
  unbounded('string a maxLength', schema('FreeText'), cut('maxLength: 200\n'), 'description:'),
  unbounded('string a maxLength', schema('BasicAuthentication'), cut('    maxLength: 200\n'), 'username:'),
  unbounded('string a maxLength', schema('GiftCardBalanceNew'), swap('{16,19}', '{16,}'), 'number:'),
  unbounded('array maxItems', schema('GiftCardBalanceRequest'), cut('    maxItems: 10\n'), 'items:'),
  unbounded('array maxItems', parameter('StatusFilter'), cut('  maxItems: 100\n'), 'schema:'),
  unbounded('integer a minimum and a maximum', schema('Amount'), cut(/maximum: .*\n/u), 'description:'),
  unbounded(
    'map maxProperties',
    schema('PaymentMethodCreate'),
    add(
      '  metadata:\n    description: Yours.\n    type: object\n    additionalProperties: {type: boolean}\n',
    ),
    'metadata:',
  ),
  {
    ...unbounded('string a maxLength', parameter('ShopFilter'), () => shop, 'schema:'),
    broken: 'string a maxLength is missing from a parameter of the path',
    plus: {
      'paths/card-scheme-definitions.yaml': (text) =>
        `parameters:\n  - $ref: ../components/parameters/ShopFilter.yaml\n${text}`,
    },
  },
  unbounded(
    'schema a type',
    schema('WebhookSubscriptionCreate'),
    add('  note:\n    description: Any.\n'),
    'note:',
  ),
];
