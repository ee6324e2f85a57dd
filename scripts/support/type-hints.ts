// What to do about the commonest faults that the compiler finds after a change of the contract. It names what is missing, but
// not where that comes from.
import { nearest } from '../lint/did-you-mean.ts';
import { answerHint, handlersByFile } from './handler-hints.ts';

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

/**
 * What to do about a type of ours that the compiler names, wherever it does. The first group is a name in the code, the second
 * what the type allows.
 */
const named: [fault: RegExp, hint: (name: string, allowed: string) => string][] = [
  [
    /Argument of type '"([\w.-]+)"' is not assignable to parameter of type '([^']*"(?:transaction\.created|not_found)"[^']*)'/,
    (name, allowed) => {
      const [kind, recipe] = allowed.includes('"not_found"')
        ? ['error', 'An error code']
        : ['event', 'An event'];
      const near = nearest(name, allowed.match(/[\w.-]+/g) ?? []);
      const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
      return `the contract has no ${name}.${hint} For a new one: npm run new -- ${kind} (${guide}, "${recipe}").`;
    },
  ],
  [
    /Argument of type '"(\w+)"' is not assignable to parameter of type '(?:TableExpressionOrList<Tables|keyof Tables'|[^']*"audit_entries" \|)/,
    (table) =>
      `no table ${table} is known. Add it to "Tables" in server/store/tables/index.ts (${guide}, "A table").`,
  ],
  [
    /WithoutFilters<[^]*Types of property '(\w+)' are incompatible/,
    (filter) =>
      `the list would ignore the filter ${filter}. Take it out of the query, use it in "read", and pass it to readPage as the ` +
      `last argument (${guide}, "A filter").`,
  ],
  [
    /(?:parameter of|from|in) type 'Announcement<|^server\/(?:actions|cli|sandbox)\/.*error TS2554/,
    () =>
      "if the last argument is an announcement, make it of the unit of work: announce(unit, 'transaction.updated', " +
      `presentTransaction) (${guide}, "An event").`,
  ],
];

/** The compiler goes on with a table that has any column, and finds more faults. */
const followsUnknownTable = /\{ \[x: string\]: /;

const shownCharacters = 160;

/** Puts the place, what is wrong there and what to do above what the compiler says, which is shortened. */
export async function withHints<Outcome extends { output: string }>(outcome: Outcome): Promise<Outcome> {
  const isAboutHandlers = /^server\/handlers\//m.test(outcome.output);
  const handlers = isAboutHandlers ? await handlersByFile() : new Map<string, never>();
  const told = new Set<string>();
  // A fault goes on in indented lines.
  const faults = outcome.output.split(/\n(?=\S)/).flatMap((fault) => {
    const [, file = '', line = '', said = ''] = /^([^(\s]+)\((\d+),\d+\): error (.*)/.exec(fault) ?? [];
    const short = said.length > shownCharacters ? `${said.slice(0, shownCharacters)}…` : said;
    const operation = handlers.get(file);
    const answer = operation && answerHint(fault, operation);
    if (answer !== undefined) return [`${file}:${line}  ${answer}\n  ${short}`];
    const advice = adviceFor(fault);
    if (advice !== undefined) {
      told.add(file);
      return [`${file}:${line}  ${advice}\n  ${short}`];
    }
    if (told.has(file) && followsUnknownTable.test(fault)) return [];
    const hint = hintFor(file, fault);
    if (hint === undefined) return [fault];
    const names = namesIn(fault);
    // The same is missing in the same file: a consequence of the first fault.
    if (told.has(`${file} ${names}`)) return [];
    told.add(`${file} ${names}`);
    return [`${file}:${line}  ${names === '' ? '' : `missing: ${names}. `}${hint}\n  ${short}`];
  });
  return { ...outcome, output: faults.join('\n') };
}

const hintFor = (file: string, fault: string): string | undefined =>
  /missing|Cannot find module/.test(fault) ? missing.find(([pattern]) => pattern.test(file))?.[1] : undefined;

function adviceFor(fault: string): string | undefined {
  for (const [pattern, hint] of named) {
    const found = pattern.exec(fault);
    if (found) return hint(found[1] ?? '', found[2] ?? '');
  }
  return undefined;
}

/** What the compiler says is missing: `country, intent`. */
function namesIn(fault: string): string {
  const [, listed] = /missing the following properties from type .*': ([^']+)$/m.exec(fault) ?? [];
  const [, single = ''] = /Property '([^']+)' is missing/.exec(fault) ?? [];
  return (listed ?? single).trim().replace(/\.$/, '');
}
