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
