// How faults are shown to people, and what to do about those that a tool has printed.
import { expect, it } from 'vitest';
import { asText } from '../../../scripts/lint/report.ts';
import { withStaleTypes } from '../../../scripts/lint/stale-types.ts';
import { root } from '../../../scripts/support/root.ts';

const problem = {
  ...{ rule: 'struct', file: 'openapi/components/schemas/Amount.yaml', line: 2, column: 7 },
  message: 'One line.\nAnother.',
};

it('shows each fault with its line, other places of it, and how many there are', () => {
  const also = ['a.yaml:1', 'b.yaml:2', 'c.yaml:3', 'd.yaml:4', 'e.yaml:5'];
  const problems = [
    { ...problem, also },
    { ...problem, file: 'gone.yaml' },
  ];
  expect(asText(problems, `${root}/test/fixtures/refunds`, false)).toBe(`\
openapi/components/schemas/Amount.yaml:2:7 struct
  2 | type: integer
    |       ^
  One line.
  Another.
  Also seen, through $ref, at a.yaml:1, b.yaml:2, c.yaml:3 and 2 more.

gone.yaml:2:7 struct
  One line.
  Another.

2 problems`);
});

it('says that generated/ is older than openapi/, instead of many faults that follow from it', () => {
  expect(withStaleTypes({ ok: true, output: '' })).toMatchObject({
    claim: 'The code compiles, but openapi/ is newer: npm run generate',
  });
  const faults = Array.from(
    { length: 7 },
    (_, index) => `x.ts(${index},1): error TS2322: No.\n  More of it.`,
  );
  const stale = withStaleTypes({ ok: false, output: faults.join('\n') });
  expect(stale).toMatchObject({ ok: false, fix: 'Run: npm run generate, then lint again.' });
  const { output } = stale;
  expect(output.split('\n', 1)).toEqual([
    'generated/ is older than openapi/, so the compiler does not know the contract as it is:',
  ]);
  expect(output.match(/TS2322/g)).toHaveLength(5);
  expect(output).toMatch(/\n… and 2 more$/);
});
