// What to do about the commonest faults that the compiler finds after a change of the contract. It names what is missing, but
// not where that comes from; and of a wrong answer of a handler it lists the bodies of all statuses, and breaks off.

const guide = 'docs/guides/backend-engineer.md';

/** What to do about something that is missing in such a file. */
const missing: [file: RegExp, hint: string][] = [
  [
    /^server\/handlers\/index\.ts/,
    'The contract has an operation without a handler: npm run generate writes a stub, and this list.',
  ],
  [
    /^(server\/store|mock\/outcomes)\/transaction-filters\.ts|^test\/mock\/parity\.filters\.values\.ts/,
    `Add a line for each filter (${guide}, "A filter").`,
  ],
  [
    /^server\/store\/tables\//,
    `Add a column for each field, and the migration that creates it (${guide}, "A migration and a column"). ` +
      'What is not stored is listed as computed, and made in server/present/.',
  ],
  [
    /^server\/domain\/personal-data\.ts/,
    `Say whether each field is kept or erased with the buyer (${guide}, "What finds a file that you forgot").`,
  ],
  [
    /^server\/present\//,
    'Fields that are not shown yet: make them here, or store them: add their lines in server/store/tables/.',
  ],
];

const shownCharacters = 160;

/**
 * Puts the place, what is missing there and what to do above what the compiler says, which is shortened. Says below the first
 * wrong answer of a handler what the contract declares.
 */
export async function withHints<Outcome extends { output: string }>(outcome: Outcome): Promise<Outcome> {
  const declared = await declaredStatuses(outcome.output);
  const told = new Set<string>();
  // A fault goes on in indented lines.
  const faults = outcome.output.split(/\n(?=\S)/).flatMap((fault) => {
    const [, file = '', line = '', said = ''] = /^([^(\s]+)\((\d+),\d+\): error (.*)/.exec(fault) ?? [];
    const hint = hintFor(file, fault) ?? declared.get(file);
    if (hint === undefined) return [fault];
    const names = namesIn(fault);
    const isTold = told.has(`${file} ${names}`);
    told.add(`${file} ${names}`);
    if (declared.has(file)) return isTold ? [fault] : [fault, `  ${hint}`];
    // The same is missing in the same file: a consequence of the first fault.
    if (isTold) return [];
    const short = said.length > shownCharacters ? `${said.slice(0, shownCharacters)}…` : said;
    return [`${file}:${line}  ${names === '' ? '' : `missing: ${names}. `}${hint}\n  ${short}`];
  });
  return { ...outcome, output: faults.join('\n') };
}

const hintFor = (file: string, fault: string): string | undefined =>
  /missing|Cannot find module/.test(fault) ? missing.find(([pattern]) => pattern.test(file))?.[1] : undefined;

/** What the compiler says is missing: `country, intent`. */
function namesIn(fault: string): string {
  const [, listed] = /missing the following properties from type .*': ([^']+)$/m.exec(fault) ?? [];
  const [, single = ''] = /Property '([^']+)' is missing/.exec(fault) ?? [];
  return (listed ?? single).trim().replace(/\.$/, '');
}

/** By the file of each handler that returns what it must not. */
async function declaredStatuses(output: string): Promise<Map<string, string>> {
  const faults = output.matchAll(/^(server\/handlers\/[\w-]+\.ts)\(.*error TS2322/gm);
  const files = new Set([...faults].map(([, file = '']) => file));
  if (files.size === 0) return new Map();
  // Loaded only now, because the lint of a contract must not depend on generated code.
  const { operations } = await import('../../generated/operations.ts');
  return new Map(
    Object.values(operations)
      .map(({ id, statuses }): [string, string] => [
        `server/handlers/${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`,
        `The contract declares for ${id}: ${statuses.join(', ')}`,
      ])
      .filter(([file]) => files.has(file)),
  );
}
