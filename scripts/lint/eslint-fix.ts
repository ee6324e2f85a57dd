/** What to do about faults that ESLint has printed. It says itself whether it can mend some of them. */
export const eslintFix = (output: string): string =>
  output.includes('potentially fixable with the `--fix` option')
    ? 'Run: npx eslint . --fix, and edit what is left; each message says how.'
    : 'Edit the files named above; each message says how.';
