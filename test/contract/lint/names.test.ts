// Names that are misspelt, and what is almost right: what was meant, and nothing that follows from it.
import { swap } from '../../support/contract-copy.ts';
import { testLint } from '../../support/lint-yaml.ts';

const schema = (name: string) => `components/schemas/${name}.yaml`;
const refund = schema('Refund');
const path = 'paths/refunds.yaml';
const limit = 'components/parameters/Limit.yaml';
const root = 'openapi.yaml';
const unexpected = (name: string, meant: string) =>
  `#! Property \`${name}\` is not expected here. Did you mean \`${meant}\`?`;

testLint({
  'a keyword': {
    [schema('Status')]: swap('enum: [open, closed]', `enmu: [open, closed] ${unexpected('enmu', 'enum')}`),
  },
  'a keyword of an input, and not that it lacks a limit': {
    [schema('RefundById')]: swap('format: uuid', `fromat: uuid ${unexpected('fromat', 'format')}`),
  },
  $ref: {
    [refund]: swap('$ref: ./Timestamp.yaml', `$reff: ./Timestamp.yaml ${unexpected('$reff', '$ref')}`),
  },
  'a type': {
    [schema('Status')]: swap(
      'type: string',
      'type: strng #! `type` cannot be `strng`. Did you mean `string`?',
    ),
  },
  'a type that is shortened': {
    [schema('Amount')]: swap('type: integer', 'type: int #! `type` cannot be `int`. Did you mean `integer`?'),
  },
  'a required property, and not that examples lack it': {
    [schema('Buyer')]: swap(
      '[name]',
      '[nme] #! There is no property `nme`. Did you mean `name`? Otherwise define it, or do not require it.',
    ),
  },
  'a field of a parameter': {
    [limit]: swap('schema:', `schma: ${unexpected('schma', 'schema')}`),
  },
  'the place of a parameter, and not that lists lack it': {
    [limit]: swap('in: query', 'in: qurey #! `in` cannot be `qurey`. Did you mean `query`?'),
  },
  'an extension, and not that the right one is missing': {
    [path]: swap(
      'x-merchant-scope: none',
      'x-merchant-scop: none #! The extension x-merchant-scop is not allowed here. Did you mean `x-merchant-scope`?',
    ),
  },
  'an operationId that is taken, and not that it has the wrong verb or shape': {
    [path]: swap(
      'checkRefunds',
      'listRefunds #! `listRefunds` is already the operationId of GET /refunds. Give this one a name of its own. The other is at openapi/paths/refunds.yaml:49.',
    ),
  },
  'a tag': {
    [path]: swap(
      '[Refunds]',
      '[Refund] #! There is no tag `Refund`. Did you mean `Refunds`? Otherwise add it to `tags`',
    ),
  },
  'a status, and not that its schema is wrong': {
    [path]: swap(
      "'403':",
      "'4003': #! `4003` is no status. Write its three digits in quotes, such as '409'.",
    ),
  },
});

testLint({
  'a format of an input, and not that it lacks a limit': {
    [schema('RefundById')]: swap(
      'format: uuid',
      'format: uid #! The format `uid` is not known here. Did you mean `uuid`?',
    ),
  },
  'a property in camelCase that is required, and in examples, by its right name': {
    [refund]: swap(
      '  created_at:',
      '  createdAt: #! "createdAt" must be snake_case: rename it to "created_at".',
    ),
  },
  'a field of an operation': {
    [path]: swap(
      'operationId: checkRefunds',
      `operationid: checkRefunds ${unexpected('operationid', 'operationId')}`,
    ),
  },
  'a path, where it is written, and not that its file and scope have another name': {
    [root]: swap(
      '  /refunds:',
      '  /re_funds: #! does not use kebab-case. Write it in lower case, with hyphens',
    ),
  },
});

testLint({
  'a parameter in a path: once, where the path is written': {
    [root]: swap(
      '  /refunds:',
      '  /refunds/{refund}: #! The operations of this path have no parameter `refund`. Did you mean `{refund_id}`?',
    ),
    [path]: (text) =>
      `parameters:\n  - $ref: ../components/parameters/RefundId.yaml\n${text.replaceAll("    '405'", "    '404':\n      $ref: ../components/responses/Forbidden.yaml\n    '405'")}`,
    'components/parameters/RefundId.yaml':
      'name: refund_id\nin: path\nrequired: true\ndescription: The refund.\nschema: { type: string, maxLength: 9 }\n',
  },
});

testLint({
  'a keyword of OpenAPI 3.0': {
    [schema('Status')]: swap(
      'type: string',
      "type: string\nnullable: true #! OpenAPI 3.1 has no `nullable`. Write `type: [string, 'null']`, with its own type.",
    ),
  },
  'nullable beside a reference, and not the examples that cannot be checked': {
    [refund]: swap(
      '    $ref: ./Timestamp.yaml',
      "    $ref: ./Timestamp.yaml\n    nullable: true #! OpenAPI 3.1 has no `nullable`. Write instead of both lines: anyOf: - $ref: ./Timestamp.yaml - type: 'null'",
    ),
  },
  'a limit of OpenAPI 3.0': {
    [schema('Amount')]: swap(
      'type: integer',
      'type: integer\nexclusiveMinimum: true #! In OpenAPI 3.1, `exclusiveMinimum` is the limit itself: write `exclusiveMinimum: 0`',
    ),
  },
  'null without quotes': {
    [schema('Status')]: swap('type: string', "type: [string, null] #! Put it in quotes: 'null'."),
  },
  'required on a property': {
    [schema('Buyer')]: swap(
      '    type: string',
      '    required: true #! Remove this line, and list `name` in the `required` of the object that has it.\n    type: string',
    ),
  },
  'a list without dashes': {
    [path]: swap('tags: [Refunds]', 'tags: Refunds #! Begin each item of the list with a dash.'),
    [schema('RefundCheck')]: swap(
      /oneOf:\n[\s\S]*/,
      'oneOf:\n  description: One. #! Begin each item of the list with a dash.\n',
    ),
  },
  'a text that a comment cuts off': {
    [schema('Status')]: swap(
      'What became of it.',
      `Don't lose # 1. #! The text ends before " #", which begins a comment. Write: description: 'Don''t lose # 1.'`,
    ),
  },
});

testLint({
  'a colon that is missing': {
    [schema('Buyer')]: swap(
      '    description: The name.\n    type: string',
      '    type string #! Is a colon missing, as in `type: string`?',
    ),
  },
  'limits that exclude each other, and not what does not match them': {
    [schema('Amount')]: swap(
      'type: integer',
      'type: integer\nmaximum: 5\nminimum: 9 #! Nothing can match: minimum 9 is more than maximum 5.',
    ),
  },
  'a length below zero': {
    [schema('Status')]: swap('type: string', 'type: string\nminLength: -1 #! greater than or equal to 0'),
  },
  'a pattern that is no regular expression': {
    [schema('RefundByNumber')]: swap(
      'pattern: ^[0-9]{4}$',
      'pattern: ^[0-9{4}$ #! Fix the regular expression: Invalid regular expression: /^[0-9{4}$/u: Unterminated character class.',
    ),
  },
});

testLint({
  'properties that are not indented, and not that they are missing': {
    [refund]: (text) =>
      text
        .replace(/ {2}amount:[\s\S]*/, (all) => all.replaceAll(/^ {2}/gm, ''))
        .replace(
          'amount:',
          'amount: #! `amount`, `status`, `created_at`, `buyer` are properties of this object. Indent them below `properties:`.',
        ),
  },
});
