/** Faults of the compiler in code whose types come from an older contract: most of them are about that, and not about the code. */
export function withStaleTypes<Outcome extends { ok: boolean; output: string }>(outcome: Outcome) {
  if (outcome.ok) return { ...outcome, claim: 'The code compiles, but openapi/ is newer: npm run generate' };
  const why = 'generated/ is older than openapi/, so the compiler does not know the contract as it is:';
  return {
    ...outcome,
    output: `${why}\n\n${outcome.output}`,
    fix: 'Run: npm run generate, then lint again.',
  };
}
