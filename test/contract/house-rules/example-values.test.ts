// The values of examples: plain, and without contradictions between two that show the same record.
import { testRule, type Files } from '../../support/lint-yaml.ts';

const file = (name: string) => `components/examples/${name}.yaml`;
const indented = (text: string) => `value:\n${text.trim().replaceAll(/^/gm, '  ')}\n`;

/** A contract with two examples of answers, and one of an event. */
function contract(one: string, other: string, event = '{}'): Files {
  const use = (name: string) => `${name.toLowerCase()}: { $ref: ./${file(name)} }`;
  const content = (...names: string[]) =>
    `{ content: { application/json: { examples: { ${names.map(use).join(', ')} } } } }`;
  return {
    'openapi.yaml': `paths: { /refunds: { get: { responses: { '200': ${content('One', 'Other')}, '201': ${content('One')} } } } }
webhooks: { refund.created: { post: { requestBody: ${content('Event')} } } }
`,
    [file('One')]: indented(one),
    [file('Other')]: indented(other),
    [file('Event')]: indented(event),
  };
}

testRule('house/plain-examples', {
  'a $ref in a value': contract(
    'items:\n  - $ref: ./Other.yaml#/value #! OpenAPI has no $ref in the value of an example: write out what it refers to.\n    id: 5',
    'type: refund',
  ),
});

const says = (field: string, one: string, other: string, place: string) =>
  `#! \`${field}\` of the refund r1 is ${one} here, and ${other} in openapi/${place}. Write the same, or another \`id\`; or another \`updated_at\``;
const refund = 'type: refund\nid: r1\n';

testRule('house/consistent-examples', {
  'another value: both files and the field': contract(
    `${refund}status: open`,
    `${refund}status: closed ${says('status', '"closed"', '"open"', `${file('One')}, at /status`)}`,
  ),
  'what most examples say is right': contract(
    `${refund}status: opne ${says('status', '"opne"', '"open"', `${file('Other')}, at /items/0/status`)}`,
    `items:\n  - { type: refund, id: r1, status: open }\n  - { type: refund, id: r1, status: open }`,
  ),
  'in an object and in a list of a record': contract(
    `${refund}details: { bin: '41' }\nparts: [{ sum: 1 }]`,
    `${refund}details:
  bin: '42' ${says('details.bin', '"42"', '"41"', `${file('One')}, at /details/bin`)}
parts:
  - sum: 2 ${says('parts.0.sum', '2', '1', `${file('One')}, at /parts/0/sum`)}`,
  ),
  'null instead of an object, and a list with more items': contract(
    `${refund}details: { bin: '41' }\ntags: [a]`,
    `${refund}details: null ${says('details', 'null', 'an object', `${file('One')}, at /details`)}
tags: [a, b] ${says('tags', '["a", "b"]', '["a"]', `${file('One')}, at /tags`)}`,
  ),
  'a record in a record is one of its own; the other names it': contract(
    'type: page\nid: p1\nrefund:\n  type: refund\n  id: r1\n  status: open',
    `type: page\nid: p2\nrefund:\n  type: refund\n  id: r1\n  status: closed ${says('status', '"closed"', '"open"', `${file('One')}, at /refund/status`)}`,
  ),
  'a record that refers to another': contract(
    'type: page\nid: p1\nrefund: { type: refund, id: r1 }',
    'type: page\nid: p1\nrefund: { type: refund, id: r2 } #! `refund` of the page p1 is the refund r2 here, and the refund r1 in',
  ),
  'another record, and another field, are no contradiction': contract(
    `${refund}status: open`,
    'items:\n  - { type: refund, id: r2, status: closed }\n  - { type: payment, id: r1, status: closed }\n  - { type: refund, id: r1, amount: 5 }\n  - { type: refund, id: null, amount: 6 }\n  - { type: refund, id: null, amount: 7 }',
  ),
  'another time': contract(
    `${refund}status: open\nupdated_at: 2026-01-01`,
    `${refund}status: closed\nupdated_at: 2026-01-02`,
    `name: refund.created\ntarget: { type: refund, id: r1, status: new, updated_at: 2025-12-31 }`,
  ),
  'the same time, also in an event': contract(
    `${refund}status: open\nupdated_at: 2026-01-01`,
    `${refund}amount: 5\nupdated_at: 2026-01-01`,
    `name: refund.created\ntarget:\n  type: refund\n  id: r1\n  status: new ${says('status', '"new"', '"open"', `${file('One')}, at /status`)}\n  updated_at: 2026-01-01`,
  ),
  'one without a time looks as at some time': contract(
    `${refund}status: open\nupdated_at: 2026-01-01`,
    `items:\n  - { type: refund, id: r1, status: closed, updated_at: 2026-01-02 }\n  - { type: refund, id: r1, status: closed }\n  - type: refund\n    id: r1\n    status: new ${says('status', '"new"', '"closed"', `${file('Other')}, at /items/0/status`)}`,
  ),
  'an event may show an earlier state of what it is about, but not of what is in that': contract(
    `${refund}status: open\nbuyer: { type: buyer, id: b1, name: Jane }`,
    'type: refund\nid: r2',
    `name: refund.created
target:
  type: refund
  id: r1
  status: new
  buyer:
    type: buyer
    id: b1
    name: June #! \`name\` of the buyer b1 is "June" here, and "Jane" in openapi/${file('One')}, at /buyer/name.`,
  ),
});
