/** Missing descriptions and faulty examples, each with the rule that must report it. */
import { cut, swap } from '../support/contract-copy.ts';
import type { Fixture } from './house-rules.test.ts';

const transactions = 'paths/transactions.yaml';
const balances = 'paths/gift-cards_balances.yaml';
const schema = (name: string) => `components/schemas/${name}.yaml`;
const parameter = (name: string) => `components/parameters/${name}.yaml`;
const example = (name: string) => `components/examples/${name}.yaml`;
const undescribed = (what: string, file: string, edit: Fixture['edit'], at: string): Fixture => ({
  rule: 'house/described',
  broken: `no description of a ${what}`,
  file,
  edit,
  at,
  says: `Describe this ${what} for someone who has never seen the service.`,
});
const blank = (line: RegExp) => swap(line, "description: ''");

export const prose: Fixture[] = [
  undescribed(
    'tag',
    'openapi.yaml',
    cut(/ {4}description: >-\n {6}The networks.*\n.*\n/u),
    '- name: Card schemes',
  ),
  undescribed('server', 'openapi.yaml', cut('    description: Sandbox\n'), '- url: https://api.sandbox'),
  undescribed('server variable', 'openapi.yaml', cut(/ {8}description: The subdomain.*\n/u), 'instance:'),
  undescribed(
    'security scheme',
    'components/securitySchemes/BearerAuth.yaml',
    cut(/description: [\s\S]*/u),
    'type: http',
  ),
  undescribed('operation', 'paths/api-key-pairs.yaml', cut(/ {2}description: >-\n(?: {4}.*\n)+/u), 'get:'),
  undescribed('parameter', parameter('Limit'), cut(/description: .*\n/u), 'name: limit'),
  undescribed('request body', balances, cut(/ {4}description: The gift cards.*\n/u), 'requestBody:'),
  undescribed('response', transactions, blank(/description: A page of transactions\./u), "'200':"),
  undescribed(
    'response',
    'webhooks/transaction.updated.yaml',
    blank(/description: The delivery failed and is tried again\.$/mu),
    '5XX:',
  ),
  undescribed('header', 'components/headers/Allow.yaml', cut(/description: .*\n/u), 'required: true'),
  undescribed('schema', schema('MerchantAccountSummary'), cut(/description: .*\n/u), 'type: object'),
  undescribed('property', schema('Address'), cut('    description: The city.\n'), 'city:'),
  undescribed(
    'property',
    schema('PaymentMethodCreatedEvent'),
    swap(/ {4}description: When it happened\.\n.*/u, "    anyOf: [{$ref: ./Timestamp.yaml}, {type: 'null'}]"),
    'created_at:',
  ),
  {
    rule: 'house/examples',
    broken: 'an answer without an example',
    file: 'components/responses/BadGateway.yaml',
    edit: cut(/ {4}examples:[\s\S]*/u),
    at: 'application/json:',
    says: 'Give this media type named examples',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/examples',
    broken: 'an example without a name',
    file: 'components/responses/GatewayTimeout.yaml',
    edit: swap(
      / {4}examples:[\s\S]*/u,
      '    example: {type: error, code: gateway_timeout, status: 504, message: Late, details: []}\n',
    ),
    at: 'application/json:',
    says: 'named examples by $ref',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/examples',
    broken: 'an example that is written out',
    file: 'components/responses/TooEarly.yaml',
    edit: swap(
      / {8}\$ref: .*Early.*/u,
      '        summary: Early\n        value: {type: error, code: too_early, status: 425, message: Early, details: []}',
    ),
    at: 'too_early:',
    says: 'Move the example "too_early" to a file in components/examples',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/examples',
    broken: 'a scenario that is not snake_case',
    file: transactions,
    edit: swap('none_found:', 'NoneFound:'),
    at: 'NoneFound',
    says: 'such as "expired_card"',
  },
  {
    rule: 'house/examples',
    broken: 'an example without a summary',
    file: example('TransactionsNoneFound'),
    edit: cut(/summary: .*\n/u),
    at: 'value:',
    says: 'Add a summary that names the scenario',
  },
  {
    rule: 'house/examples',
    broken: 'an example without a value',
    file: example('ErrorInvalidQuery'),
    edit: cut(/value:[\s\S]*/u),
    at: 'summary:',
    says: 'Give the example a value',
  },
  {
    rule: 'house/paired-examples',
    broken: 'a request whose answer is not shown',
    file: balances,
    edit: cut(/ {12}mixed:\n.*GiftCardBalancesMixed.yaml\n/u),
    at: 'mixed:',
    says: 'exactly one response example of the same name',
    also: ['house/no-orphans'],
  },
  {
    rule: 'house/paired-examples',
    broken: 'an answer whose request is not shown',
    file: 'paths/webhook-subscriptions.yaml',
    edit: cut(/ {10}plain:\n.*\n/u),
    at: 'plain:',
    says: 'add the request that leads to it',
    also: ['house/no-orphans'],
  },
];
