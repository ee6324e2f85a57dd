/** Wrong names and misplaced files, each with the rule that must report it. */
import { add, swap } from '../support/contract-copy.ts';
import type { Fixture } from './house-rules.test.ts';

const transactions = 'paths/transactions.yaml';
const balances = 'paths/gift-cards_balances.yaml';
const schema = (name: string) => `components/schemas/${name}.yaml`;
const parameter = (name: string) => `components/parameters/${name}.yaml`;

export const names: Fixture[] = [
  {
    rule: 'house/snake-case',
    broken: 'a property in camelCase',
    file: schema('CardDetails'),
    edit: add('  issuerCountry:\n    description: Its country.\n    type: string\n'),
    at: 'issuerCountry',
    says: 'rename it to "issuer_country"',
  },
  {
    rule: 'house/snake-case',
    broken: 'a property of a nested object in kebab-case',
    file: schema('ValidationErrorDetail'),
    edit: add(
      '  more:\n    description: More.\n    type: object\n    additionalProperties: false\n    properties:\n      error-code:\n        description: Its code.\n        type: string\n',
    ),
    at: 'error-code',
    says: 'rename it to "error_code"',
  },
  {
    rule: 'house/snake-case',
    broken: 'a query parameter in camelCase',
    file: parameter('BuyerIdFilter'),
    edit: swap('name: buyer_id', 'name: buyerId'),
    at: 'buyerId',
    says: 'rename it to "buyer_id"',
  },
  {
    rule: 'house/component-name',
    broken: 'a component file that is not PascalCase',
    file: schema('TaxId'),
    reported: schema('BillingDetails'),
    edit: add('# moved\n'),
    at: './tax-id.yaml',
    says: 'Rename the file "tax-id.yaml" to "TaxId.yaml"',
    plus: {
      [schema('BillingDetails')]: swap('./TaxId.yaml', './tax-id.yaml'),
      [schema('tax-id')]: () => 'description: A tax ID.\ntype: string\n',
    },
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/component-name',
    broken: 'a schema among the parameters',
    file: schema('PaymentService'),
    edit: swap(/(method:\n.*\n) {4}type: .*/u, 'method:\n    $ref: ../parameters/Misplaced.yaml'),
    at: 'Misplaced.yaml',
    says: 'Move this file to components/schemas/',
    plus: { 'components/parameters/Misplaced.yaml': () => 'description: A text.\ntype: string\n' },
  },
  {
    rule: 'house/component-name',
    broken: 'a schema beside the paths',
    file: balances,
    edit: swap('../components/schemas/GiftCardBalanceRequest.yaml', './Request.yaml'),
    at: './Request.yaml',
    says: 'Move this file to components/schemas/',
    plus: {
      'paths/Request.yaml': () =>
        'description: Anything.\ntype: object\nmaxProperties: 5\nadditionalProperties:\n  $ref: ../components/schemas/AnyOf.yaml\n',
      [schema('AnyOf')]: () =>
        'description: A list.\ntype: array\nmaxItems: 9\nitems:\n  type: object\n  additionalProperties: {type: string, maxLength: 9}\n  maxProperties: 2\n',
    },
    also: ['house/no-orphans', 'no-invalid-media-type-examples'],
    alone: true,
  },
  {
    rule: 'house/component-name',
    broken: 'a reference into a file',
    file: schema('RedeemedGiftCard'),
    edit: swap(/last4:\n.*\n.*\n/u, 'last4:\n    $ref: ./GiftCardBalance.yaml#/properties/last4\n'),
    at: '#/properties/last4',
    says: 'Refer to a whole file',
  },
  {
    rule: 'house/component-name',
    broken: 'a path file that is not called like its path',
    file: 'openapi.yaml',
    edit: swap('./paths/transactions.yaml', './paths/transaction.yaml'),
    at: './paths/transaction.yaml',
    says: '"transactions.yaml" for "/transactions"',
    plus: { 'paths/transaction.yaml': () => 'summary: Nothing yet\n' },
    also: ['house/no-orphans'],
    alone: true,
  },
  {
    rule: 'house/component-name',
    broken: 'a parameter that is written out',
    file: transactions,
    edit: swap(
      '  responses:',
      '    - {name: shop, in: query, description: The shop., schema: {type: boolean}}\n  responses:',
    ),
    at: 'name: shop',
    says: 'Move this parameter to a file of its own in components/parameters/',
  },
  {
    rule: 'house/component-name',
    broken: 'a header that is written out',
    file: 'components/responses/Forbidden.yaml',
    edit: swap('content:', '  X-Reason:\n    description: Why.\n    schema: {type: string}\ncontent:'),
    at: 'X-Reason',
    says: 'Move this header to a file of its own in components/headers/',
  },
  {
    rule: 'house/component-name',
    broken: 'a path item that is written out',
    file: 'openapi.yaml',
    edit: swap('paths:\n', 'paths:\n  /payouts:\n    summary: Later\n'),
    at: '/payouts',
    says: 'in paths/ or webhooks/',
  },
  {
    rule: 'house/component-name',
    broken: 'a body whose schema is written out',
    file: 'paths/payment-methods.yaml',
    edit: swap('$ref: ../components/schemas/PaymentMethodCreate.yaml', 'type: boolean'),
    at: 'schema:',
    says: 'Move this schema to a file of its own in components/schemas/',
    also: ['house/no-orphans', 'no-invalid-media-type-examples'],
    alone: true,
  },
  {
    rule: 'house/component-name',
    broken: 'a component called otherwise than its file',
    file: 'openapi.yaml',
    edit: swap('    BearerAuth:\n', '    Bearer:\n'),
    at: './components/securitySchemes/BearerAuth.yaml',
    says: 'Give this component the name of its file: "BearerAuth"',
    also: ['no-unused-components', 'security-defined'],
  },
  {
    rule: 'house/no-orphans',
    broken: 'a file that nothing refers to',
    file: schema('Refund'),
    edit: () => 'description: A refund.\ntype: string\n',
    at: 'description: A refund.',
    says: 'Delete it, or refer to it',
  },
  {
    rule: 'house/no-orphans',
    broken: 'a file that is only listed in the root file',
    file: schema('Payout'),
    edit: () => 'description: A payout.\ntype: string\n',
    plus: { 'openapi.yaml': add('  schemas:\n    Payout:\n      $ref: ./components/schemas/Payout.yaml\n') },
    at: 'description: A payout.',
    says: 'Delete it, or refer to it',
  },
];
