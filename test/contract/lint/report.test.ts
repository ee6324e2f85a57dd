// How faults are shown to people, and what to do about those that a tool has printed.
import { expect, it } from 'vitest';
import { asText } from '../../../scripts/lint/report.ts';
import { withStaleTypes } from '../../../scripts/lint/stale-types.ts';
import { root } from '../../../scripts/support/root.ts';

const problem = {
  ...{ rule: 'struct', file: 'openapi/components/schemas/Amount.yaml', line: 2, column: 7 },
  message: 'One line.\nAnother.',
};

it('shows each fault with its line, and how many there are', () => {
  const problems = [problem, { ...problem, file: 'gone.yaml' }];
  expect(asText(problems, `${root}/test/fixtures/refunds`, false)).toBe(`\
openapi/components/schemas/Amount.yaml:2:7 struct
  2 | type: integer
    |       ^
  One line.
  Another.

gone.yaml:2:7 struct
  One line.
  Another.

2 problems`);
});

it('says that generated/ is older than openapi/, from which faults of the compiler follow', () => {
  expect(withStaleTypes({ ok: true, output: '' })).toMatchObject({
    claim: 'The code compiles, but openapi/ is newer: npm run generate',
  });
  expect(withStaleTypes({ ok: false, output: 'x.ts(1,1): error TS2322: No.' })).toEqual({
    ok: false,
    output:
      'generated/ is older than openapi/, so the compiler does not know the contract as it is:\n\nx.ts(1,1): error TS2322: No.',
    fix: 'Run: npm run generate, then lint again.',
  });
});
