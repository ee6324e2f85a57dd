// Advice of the contract lint that was wrong once.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LineCounter, parseDocument } from 'yaml';
import { yamlFaults } from '../../scripts/lint/yaml-faults.ts';
import { root } from '../../scripts/support/root.ts';

interface Rules {
  operationScope: () => {
    Paths: { PathItem: Record<'enter' | 'Operation', (node: object, ctx: object) => void> };
  };
}

function faults(text: string): [line: number, message: string][] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  return yamlFaults(new Map([['x.yaml', { text, document, lines }]])).map((one) => [one.line, one.message]);
}

it('a key that is indented as the list above it belongs beside the list, and is no item without a dash', () => {
  const text = `get:
  parameters:
    - $ref: ./Limit.yaml
    responses:
      '200':
        $ref: ./Ok.yaml
`;
  expect(faults(text)).toEqual([
    [
      4,
      '`responses` is beside the items of `parameters`. Indent it like `parameters`, by 2 spaces; or, if it is an item, begin it with a dash.',
    ],
  ]);
});

it.each([
  ['required:\n  - type\n  id\n  - name\n', 'A dash is missing. Write: - id'],
  [
    'parameters:\n  - $ref: ./Limit.yaml\n  $ref: ./Cursor.yaml\n',
    'A dash is missing. Write: - $ref: ./Cursor.yaml',
  ],
])('an item without a dash: %j', (text, message) => {
  expect(faults(text)).toEqual([[3, message]]);
});

it.each([
  ['get', 'refunds.read'],
  ['post', 'refunds.write'],
])('the scope that is suggested for %s /refunds is its own', async (method, scope) => {
  const { operationScope } = (await import(join(root, 'scripts/redocly/rules/operations.js'))) as Rules;
  const messages: string[] = [];
  const location = { child: () => location, key: () => location };
  const ctx = { key: method, location, report: ({ message }: { message: string }) => messages.push(message) };
  const { enter, Operation } = operationScope().Paths.PathItem;
  enter({}, { ...ctx, key: '/refunds' });
  Operation({ operationId: 'refunds' }, ctx);
  expect(messages).toEqual([
    `Name the scope that refunds needs, such as "security: [{BearerAuth: [${scope}]}]".`,
  ]);
});
