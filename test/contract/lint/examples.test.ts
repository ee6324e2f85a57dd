// Examples that do not match their schema: where the value is written, in plain words, once.
import { cut, swap } from '../../support/contract-copy.ts';
import { testLint } from '../../support/lint-yaml.ts';

const example = (name: string) => `components/examples/${name}.yaml`;
const schema = (name: string) => `components/schemas/${name}.yaml`;
const open = example('RefundOpen');
const no = 'This example does not match its schema:';

testLint({
  'a value of another type, where it is shared': {
    [open]: swap('amount: 1299', `amount: much #! ${no} \`amount\` must be an integer.`),
  },
  'a value of a type that may be null': {
    [example('PageOfOpen')]: swap(
      'next_cursor: null',
      `next_cursor: 5 #! ${no} \`next_cursor\` must be a string or null.`,
    ),
  },
  'a code that does not exist, and not that no example has the right one': {
    [example('ErrorFailed')]: swap(
      'code: failed',
      `code: unheard #! ${no} \`code\` must be equal to one of the allowed`,
    ),
  },
  'a misspelt value of a list': {
    [open]: swap(
      'status: open',
      `status: opne #! ${no} \`status\` has no value \`opne\`. Did you mean \`open\`?`,
    ),
  },
  'a misspelt property of an object with alternatives': {
    [example('CheckByNumber')]: swap(
      "number: '1234'",
      `numbr: '1234' #! ${no} it has no property \`numbr\`. Did you mean \`number\`?`,
    ),
  },
  'a property too much, of an object that may also be null': {
    [example('BuyerJane')]: swap(
      '  name: Jane Doe\n',
      `  name: Jane Doe\n  colour: red #! ${no} it has no property \`colour\`. Add it to the schema, or remove it here.\n`,
    ),
  },
  'new required fields: only the example that the others are made from': {
    [schema('Refund')]: (text) =>
      swap(
        '[type, id,',
        '[type, id, reason, fee,',
      )(text).concat(
        '  reason:\n    description: Why.\n    type: string\n  fee:\n    description: What it cost.\n    type: integer\n',
      ),
    [open]: swap(
      'value:',
      "value: #! The schema requires 'reason', 'fee', which this example lacks. Add them here.",
    ),
  },
  'a new required field of what may also be null': {
    [schema('Buyer')]: (text) =>
      swap('[name]', '[name, tier]')(text).concat('  tier:\n    description: Which.\n    type: string\n'),
    [example('BuyerJane')]: swap(
      'value:',
      "value: #! The schema requires 'tier', which this example lacks. Add it here.",
    ),
  },
});

testLint({
  'a misspelt property, and what else its object lacks': {
    [example('PageOfOpen')]: (text) =>
      cut('  limit: 20\n')(text)
        .replace('value:', "value: #! The schema requires 'limit', which this example lacks. Add it here.")
        .replace('next_cursor:', 'next_cursr:')
        .replace(
          'next_cursr: null',
          `$& #! it has no property \`next_cursr\`. Did you mean \`next_cursor\`?`,
        ),
  },
  'an object that fits no alternative': {
    [example('CheckByNumber')]: swap(
      "value:\n  number: '1234'",
      `value: #! ${no} it fits none of the alternatives (oneOf). Missing for one or another: \`refund_id\`, \`number\`. Not allowed in one or another: \`serial\`.\n  serial: '1234'`,
    ),
  },
  'a property that a schema no longer has: the first example, and the others': {
    [schema('Refund')]: (text) => cut(', status')(cut('  status:\n    $ref: ./Status.yaml\n')(text)),
    [open]: swap(
      'status: open',
      `status: open #! ${no} it has no property \`status\`. Add it to the schema, or remove it here, and in: openapi/components/examples/PageOfClosed.yaml:5`,
    ),
    [schema('Status')]: swap('of it.', 'of it. #! Nothing refers to this file.'),
  },
});

testLint({
  'an object that fits more than one alternative': {
    [schema('RefundByNumber')]: `
description: A refund by its ID, too.
type: object
additionalProperties: false
required: [refund_id]
properties:
  refund_id:
    description: The ID.
    type: string
    maxLength: 99
`,
    [example('CheckById')]: swap(
      'value:',
      `value: #! ${no} it fits more than one of the alternatives (oneOf).`,
    ),
    [example('CheckByNumber')]: `
summary: By its ID, too
value: #! ${no} it fits more than one of the alternatives (oneOf).
  refund_id: 2c9b4a4e-8f0e-4e4e-9d6e-0b1c2d3e4f50
`,
  },
});
