// Examples that do not match their schema: one message for each place where a wrong value is written.
import { cut, swap } from '../../support/contract-copy.ts';
import { testLint } from '../../support/lint-yaml.ts';

const example = (name: string) => `components/examples/${name}.yaml`;
const schema = (name: string) => `components/schemas/${name}.yaml`;
const open = example('PageOfOpen');
const no = 'This example does not match its schema:';

const faults: Parameters<typeof testLint>[0] = {
  'a value of another type': {
    [open]: swap('amount: 1299', `amount: much #! ${no} \`amount\` must be integer.`),
  },
  'a value of a type that may be null': {
    [open]: swap('next_cursor: null', `next_cursor: 5 #! ${no} \`next_cursor\` must be string or null.`),
  },
  'a misspelt value of a list': {
    [open]: swap(
      'status: open',
      `status: opne #! ${no} \`status\` must be equal to one of the allowed values "open", "closed".`,
    ),
  },
  'an object that fits no alternative': {
    [example('CheckByNumber')]: swap(
      "value:\n  number: '1234'",
      `value: #! ${no} it lacks \`refund_id\`; it lacks \`number\`.\n  serial: '1234' #! ${no} the schema has no \`serial\`.`,
    ),
  },
  'a property too much, of an object that may also be null': {
    [open]: swap(
      'name: Jane Doe\n',
      `name: Jane Doe\n        colour: red #! ${no} the schema has no \`colour\`.\n`,
    ),
  },
  'new required fields: each example that lacks them, with all lines': {
    [schema('Refund')]: (text) =>
      swap(
        '[type, id,',
        '[type, id, reason, fee,',
      )(text).concat(
        '  reason:\n    description: Why.\n    type: string\n  fee:\n    description: What it cost.\n    type: integer\n',
      ),
    [open]: (text) =>
      text.replace(
        /( {4}- type: refund)\n([^]*?)(?= {2}limit)/,
        (_, first: string, rest: string) =>
          `${first} #! ${no} it lacks \`reason\`; it lacks \`fee\` (also in line 11).\n${rest}${first}\n${rest}`,
      ),
    [example('PageOfClosed')]: swap(
      'type: refund',
      `type: refund #! ${no} it lacks \`reason\`; it lacks \`fee\`.`,
    ),
  },
  'a property that a schema no longer has: each example that writes it': {
    [schema('Refund')]: (text) => cut(', status')(cut('  status:\n    $ref: ./Status.yaml\n')(text)),
    [open]: swap('status: open', `status: open #! ${no} the schema has no \`status\`.`),
    [example('PageOfClosed')]: swap(/status: closed/, `status: closed #! the schema has no \`status\`.`),
    [schema('Status')]: swap('of it.', 'of it. #! Nothing refers to this file.'),
  },
};
// One contract each: some of them hide others.
for (const [name, edits] of Object.entries(faults)) testLint({ [name]: edits });
