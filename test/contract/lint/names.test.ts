// The mistakes that people make: each is reported with file, line and what to do.
import { cut, swap } from '../../support/contract-copy.ts';
import { testLint } from '../../support/lint-yaml.ts';

const schema = (name: string) => `components/schemas/${name}.yaml`;
const refund = schema('Refund');
/** In each example. */
const inPages = (from: string | RegExp, to: string) => ({
  'components/examples/PageOfOpen.yaml': swap(from, to),
  'components/examples/PageOfClosed.yaml': swap(from, to),
});
const path = 'paths/refunds.yaml';
const root = 'openapi.yaml';
const define = (name: string) => `#! Define the required property "${name}", or do not require it.`;
const unexpected = (name: string) =>
  `#! Property \`${name}\` is not expected here. Check its name and its indentation.`;

const faults: Parameters<typeof testLint>[0] = {
  'a keyword, and not what follows from it': {
    [schema('RefundById')]: swap(
      'format: uuid',
      'fromat: uuid #! Property `fromat` is not expected here. Did you mean `format`?',
    ),
  },
  $ref: {
    [refund]: swap(
      '$ref: ./Timestamp.yaml',
      '$reff: ./Timestamp.yaml #! Property `$reff` is not expected here. Did you mean `$ref`?',
    ),
  },
  'a type': {
    [schema('Status')]: swap(
      'type: string',
      'type: strnig #! `type` can be one of the following only: "object", "array", "string", "number", "integer", "boolean", "null". Did you mean `string`?',
    ),
  },
  'a type without quotes': {
    [schema('Status')]: swap('type: string', 'type: [string, null] #! "integer", "boolean", "null".'),
  },
  nullable: {
    [schema('Buyer')]: swap(
      '    type: string',
      "    type: string\n    nullable: true #! OpenAPI 3.1 has no `nullable`. Write instead of both lines: type: [string, 'null']",
    ),
    [refund]: swap(
      '    anyOf:',
      '    nullable: true #! OpenAPI 3.1 has no `nullable`. Add "- type: \'null\'" to `anyOf` instead.\n    anyOf:',
    ),
    [schema('RefundById')]: swap(
      '    format: uuid',
      '    nullable: false #! Remove it: a value is null only if its type says so.\n    format: uuid',
    ),
  },
  'nullable beside an enum, and beside a type that allows null': {
    [schema('Status')]: swap(
      'type: string',
      "type: string\nnullable: true #! Write instead of both lines: type: [string, 'null'], and add null to `enum`",
    ),
    [schema('Buyer')]: swap(
      '    type: string',
      "    type: [string, 'null']\n    nullable: true #! OpenAPI 3.1 has no `nullable`. Remove it: the type says so.",
    ),
  },
  'required beside a reference': {
    [refund]: swap(
      '    $ref: ./Amount.yaml',
      '    $ref: ./Amount.yaml\n    required: true #! written once for the object, above its `properties`. Add `amount` to it, and remove this line.',
    ),
    [schema('Buyer')]: swap(
      '    type: string',
      '    type: string\n    required: false #! Remove this line: only properties that the object lists in its `required` are required.',
    ),
  },
  'required: true on a property': {
    [schema('Buyer')]: swap(
      '    type: string',
      '    type: string\n    required: true #! `required` is a list of names, written once for the object, above its `properties`. Add `name` to it, and remove this line.',
    ),
  },
  'a tag': {
    [path]: swap(
      '[Refunds]',
      '[Refund] #! The tag `Refund` is not declared. Use one of those below `tags` in openapi/openapi.yaml, or declare it there. Did you mean `Refunds`?',
    ),
  },
  'no tag': {
    [path]: (text) =>
      cut(/^ {2}tags: .*\n/m)(text).replace(
        /^post:/m,
        '$& #! This operation has no tag, the section of the docs that shows it. Add one, such as "tags: [Refunds]".',
      ),
  },
  'a path in camelCase, and neither its file nor its scope': {
    [root]: swap('  /refunds:', '  /reFunds: #! Write this path in lower case, with hyphens'),
  },
  'a required property': {
    [schema('Buyer')]: swap('[name]', `[nme] ${define('nme')} Did you mean \`name\`?`),
    ...inPages('buyer:', 'buyer: #! This example does not match its schema: it lacks `nme`.'),
  },
  'a property in camelCase': {
    [refund]: (text) =>
      text
        .replace(/^required: .*$/m, `$& ${define('created_at')}`)
        .replace('  created_at:', '  createdAt: #! "createdAt" should use snake_case'),
    ...inPages(/created_at: .*/, 'created_at: 2026-01-01T00:00:00Z #! the schema has no `created_at`.'),
  },
  'a required property, which is not the one in kebab-case': {
    [schema('Buyer')]: (text) =>
      text
        .replace('[name]', `[na_me] ${define('na_me')} Did you mean \`name\`?`)
        .replace('properties:', '$&\n  na-me: { $ref: ./Status.yaml } #! "na-me" should use snake_case'),
    ...inPages('buyer:', 'buyer: #! it lacks `na_me`.'),
  },
  'properties that are not indented': {
    [refund]: (text) =>
      text
        .replace(/ {2}amount:[\s\S]*/, (all) => all.replaceAll(/^ {2}/gm, ''))
        .replaceAll(/^(amount|status|created_at|buyer):$/gm, (line, name: string) =>
          [line, unexpected(name)].join(' '),
        ),
  },
  'an operationId that is taken': {
    [path]: (text) =>
      text
        .replace(
          'checkRefunds',
          'listRefunds #! Every operation must have a unique `operationId`. Give this one a name of its own. #! Write the operationId of POST /refunds in camelCase, with its verb first: create or check.',
        )
        .replace(
          /^post:/m,
          'post: #! add the query parameter limit by $ref #! add the query parameter cursor by $ref',
        ),
  },
  'a scope of another path': {
    [path]: swap('[refunds.read]', '[refund.read] #! The scope `refund.read` does not belong to /refunds.'),
  },
  'a security scheme': {
    [path]: swap(
      'BearerAuth: [refunds.read]',
      'BearerAuht: [refunds.read] #! There is no `BearerAuht` security scheme defined. Did you mean `BearerAuth`?',
    ),
  },
  'an example that is missing': {
    'components/responses/TooEarly.yaml': (text) =>
      cut(/^ {4}examples:\n(?: {6}.*\n)+/m)(text).replace(
        'application/json:',
        'application/json: #! Give this media type named examples by $ref to components/examples',
      ),
  },
  'a parameter in a path': {
    [root]: (text) =>
      text
        .replace('  /refunds:', '  /refunds/{refund}:')
        .replace('./paths/refunds.yaml', './paths/refunds.yaml #! Name the file after its path'),
    [path]: (text) =>
      text.replaceAll(
        /^(post:| {2}parameters:)$/gm,
        '$1 #! The operation does not define the path parameter `{refund}` expected by path `/refunds/{refund}`.',
      ),
  },
  'a text that a comment cuts off': {
    [schema('Status')]: swap(
      'What became of it.',
      `Don't lose # 1. #! The text ends before " #", which begins a comment. Write: description: 'Don''t lose # 1.'`,
    ),
  },
};
// One contract each: some of them hide others.
for (const [name, edits] of Object.entries(faults)) testLint({ [name]: edits });
