// `npm run lint` advises `--fix` only for faults that ESLint can mend.
import { ESLint } from 'eslint';
import { expect, it } from 'vitest';
import { eslintFix } from '../../scripts/lint/eslint-fix.ts';

const rules = { 'prefer-const': 'error', 'no-undef': 'error' } as const;
const eslint = new ESLint({ overrideConfigFile: true, overrideConfig: { rules } });

it.each([
  ['let fixable = 1; export { fixable };', 'Run: npx eslint . --fix, and edit what is left'],
  ['export default unknown;', 'Edit the files named above'],
])('%s', async (code, advice) => {
  const results = await eslint.lintText(code);
  const stylish = await eslint.loadFormatter('stylish');
  const output = await stylish.format(results);
  expect(output).toContain('1 error');
  expect(eslintFix(output)).toContain(advice);
});
