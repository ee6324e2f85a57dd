// What the contract declares for an operation, below what the compiler says of its handler: the compiler lists the bodies of all
// statuses, and breaks off in the middle.

/** Adds a line for each handler that returns what it must not. */
export async function withStatuses<Outcome extends { output: string }>(outcome: Outcome): Promise<Outcome> {
  const faults = outcome.output.matchAll(/^server\/handlers\/([\w-]+)\.ts\(.*error TS2322/gm);
  const files = new Set([...faults].map(([, file = '']) => file));
  if (files.size === 0) return outcome;
  // Loaded only now, because the lint of a contract must not depend on generated code.
  const { operations } = await import('../../generated/operations.ts');
  const hints = Object.values(operations)
    .filter(({ id }) => files.has(id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)))
    .map(({ id, statuses }) => `The contract declares for ${id}: ${statuses.join(', ')}`);
  return { ...outcome, output: [outcome.output, ...hints].join('\n') };
}
