// What to do about the commonest faults that the compiler finds after a change of the contract. It names what is missing, but
// not where that comes from; and of a wrong answer of a handler it lists the bodies of all statuses, and breaks off.

const guide = 'docs/guides/backend-engineer.md';

/** What is said once if a fault in such a file says that something is missing. */
const missing: [file: RegExp, hint: string][] = [
  [
    /^server\/handlers\/index\.ts/,
    'The contract has an operation without a handler: npm run generate writes a stub, and this list.',
  ],
  [
    /^(server\/store|mock\/outcomes)\/transaction-filters\.ts|^test\/mock\/parity\.filters\.values\.ts/,
    `The contract has a filter that is missing here: add its line (${guide}, "A filter").`,
  ],
  [
    /^server\/store\/tables\//,
    'The contract has a field that is missing here: add its column, and the migration that creates it ' +
      `(${guide}, "A migration and a column"). If it is not stored, list it as computed and make it in server/present/.`,
  ],
  [
    /^server\/domain\/personal-data\.ts/,
    `The contract has a field that is missing here: say whether it is kept or erased with the buyer (${guide}, "What finds a file that you forgot").`,
  ],
  [
    /^server\/present\//,
    'The contract has a field that is not shown yet: make it here, or store it: add its line in server/store/tables/.',
  ],
];

/** Adds these hints, and what the contract declares for each handler that returns what it must not. */
export async function withHints<Outcome extends { output: string }>(outcome: Outcome): Promise<Outcome> {
  // A fault goes on in indented lines.
  const faults = outcome.output.split(/\n(?=\S)/);
  const lacking = faults.filter((fault) => /missing|Cannot find module/.test(fault));
  const hints = missing.flatMap(([file, hint]) => (lacking.some((fault) => file.test(fault)) ? [hint] : []));
  const added = [...hints, ...(await declaredStatuses(outcome.output))];
  return added.length === 0 ? outcome : { ...outcome, output: [outcome.output, ...added].join('\n') };
}

async function declaredStatuses(output: string): Promise<string[]> {
  const faults = output.matchAll(/^server\/handlers\/([\w-]+)\.ts\(.*error TS2322/gm);
  const files = new Set([...faults].map(([, file = '']) => file));
  if (files.size === 0) return [];
  // Loaded only now, because the lint of a contract must not depend on generated code.
  const { operations } = await import('../../generated/operations.ts');
  return Object.values(operations)
    .filter(({ id }) => files.has(id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)))
    .map(({ id, statuses }) => `The contract declares for ${id}: ${statuses.join(', ')}`);
}
