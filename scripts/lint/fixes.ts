// What to do about the faults that a tool has printed.

const namedFiles = 10;

/** Prettier names each file that it would change in a line of its own, and puts `[error]` before what it cannot read. */
export function prettierFix(output: string): string {
  const files = [...output.matchAll(/^\[warn\] (.+\.\w+)$/gm)].map(([, file = '']) => quoted(file));
  const isReadable = !/^\[error\]/m.test(output);
  if (files.length === 0) return 'Fix the syntax of the files named above.';
  const all = files.length > namedFiles ? '.' : files.join(' ');
  return `Run: npx prettier --write ${all}${isReadable ? '' : ', and fix the syntax of the others named above.'}`;
}

const quoted = (file: string) =>
  /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`;

const shownFaults = 5;

/** Faults of the compiler in code whose types come from an older contract: most of them are about that, and not about the code. */
export function withStaleTypes<Outcome extends { ok: boolean; output: string }>(outcome: Outcome) {
  if (outcome.ok) return { ...outcome, claim: 'The code compiles, but openapi/ is newer: npm run generate' };
  // A fault goes on in indented lines.
  const faults = outcome.output.split(/\n(?=\S)/);
  const more = faults.length > shownFaults ? [`… and ${faults.length - shownFaults} more`] : [];
  const why = 'generated/ is older than openapi/, so the compiler does not know the contract as it is:';
  return {
    ...outcome,
    output: [why, '', ...faults.slice(0, shownFaults), ...more].join('\n'),
    fix: 'Run: npm run generate, then lint again.',
  };
}
