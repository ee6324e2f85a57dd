// What to do about the commonest faults that the compiler finds after a change of the contract. It names what is missing, but
// not where that comes from.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { enumValues, groupsOf, titleOf } from '../dev/type-groups.ts';
import { nearest } from '../lint/did-you-mean.ts';
import { pascal, singular } from '../new/names.ts';
import { didYouMean, placeOf } from './faults.ts';
import { answerHint, readGenerated } from './handler-hints.ts';
import { root } from './root.ts';
import { findUnknownTables } from './table-hints.ts';

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
 * what the type allows, or what was meant.
 */
const named: [fault: RegExp, hint: (name: string, allowed: string, events: readonly string[]) => string][] = [
  [
    /Argument of type '"([\w.-]+)"' is not assignable to parameter of type '([^']*"(?:transaction\.created|not_found)"[^']*)'/,
    (name, allowed) => {
      const [kind, recipe] = allowed.includes('"not_found"')
        ? ['error', 'An error code']
        : ['event', 'An event'];
      const near = nearest(name, allowed.match(/[\w.-]+/g) ?? []);
      return `the contract has no ${name}.${didYouMean(near)} For a new one: npm run new -- ${kind} (${guide}, "${recipe}").`;
    },
  ],
  [
    /WithoutFilters<[^]*Types of property '(\w+)' are incompatible/,
    (filter) =>
      `the list would ignore the filter ${filter}. Take it out of the query, use it in "read", and pass it to readPage as the ` +
      `last argument (${guide}, "A filter").`,
  ],
  [
    /^([\w/]+)\/([\w-]+)\.[^]*(?:(?:parameter of|from|in) type 'Announcement<|(?<=^server\/(?:actions|cli|sandbox)\/.*)error TS2554)/,
    (folder, file, events) => {
      const own = events.filter((event) => event.startsWith(`${singular(file)}.`));
      const isNew = own.length === 0 && folder === 'server/actions';
      const [event = isNew ? `${singular(file)}.created` : 'transaction.updated'] = own;
      const known = `The contract has ${(own.length === 0 ? events : own).join(', ')}`;
      return (
        `if the last argument is an announcement, make it of the unit of work: announce(unit, '${event}', ` +
        `present${pascal(event.replace(/\..*/, ''))}). ` +
        `${isNew ? `For a new event: npm run new -- event ${event}` : known} (${guide}, "An event").`
      );
    },
  ],
  [
    /Property 'inUnitOfWork' does not exist on type 'Deps'/,
    () =>
      `a handler that changes something takes WriteDeps of ./deps.ts instead of Deps (${guide}, "A table").`,
  ],
  [
    /^server\/present\/.*error TS(?:2353|2561): .*'(\w+)' does not exist in type '[^']*'(?:\. Did you mean to write '(\w+)')?/,
    (field, meant) =>
      `the contract has no ${field}.${didYouMean(meant)} To show a new one, add it to its schema in ` +
      `openapi/components/schemas/, then npm run generate (${guide}, "A field").`,
  ],
];

const short = (said: string, most = 160) => (said.length > most ? `${said.slice(0, most)}…` : said);

function told(fault: string, hint: string): string {
  const { file, line, said } = placeOf(fault);
  return `${file}:${line}  ${hint}\n  ${short(said)}`;
}

/** Those about a name that the contract has, or had when it was released, below a heading that says so; then all others. */
async function grouped(faults: string[]): Promise<string[]> {
  const read = (file: string) => readFile(join(root, file), 'utf8').catch(() => '{}');
  const contract = await read('generated/openapi.json');
  const names = {
    missing: contract,
    unknown: contract + (await read('openapi/released/openapi.json')),
    other: '',
  };
  const groups = groupsOf(faults).filter(({ kind, name }) => names[kind].includes(`"${name}"`));
  const values = enumValues(contract);
  const known = new Set(groups.flatMap((group) => group.faults));
  return [
    ...groups.map((group) => {
      const lines = group.faults.map((fault) => {
        const { file, line, said } = placeOf(fault);
        return `\n  ${file}:${line}  ${short(said, 90)}`;
      });
      return `${titleOf(group, values)}:${lines.join('')}`;
    }),
    ...faults.filter((fault) => !known.has(fault)),
  ];
}

/** Puts the place, what is wrong there and what to do above what the compiler says, which is shortened. */
export async function withHints<Outcome extends { output: string }>(outcome: Outcome): Promise<Outcome> {
  const { handlers, events } = await readGenerated();
  // A fault goes on in indented lines.
  const { tables, folded, rest } = await findUnknownTables(outcome.output.split(/\n(?=\S)/));
  const first = tables.map(({ fault, hint }) => told(fault, hint));
  if (folded > 0) first.push(`  (${folded} more that may follow from this: mend it, and check again)`);
  const known = new Set<string>();
  const unexplained: string[] = [];
  // What is not used is often a consequence.
  const isUnused = (fault: string) => /error TS6(133|138|192|196|198):/.test(fault);
  const ordered = [...rest.filter((fault) => !isUnused(fault)), ...rest.filter(isUnused)];
  const others = ordered.flatMap((fault) => {
    const { file } = placeOf(fault);
    const operation = handlers.get(file);
    const advice = (operation && answerHint(fault, operation)) ?? adviceFor(fault, events);
    if (advice !== undefined) return [told(fault, advice)];
    const hint = hintFor(file, fault);
    if (hint === undefined) {
      unexplained.push(fault);
      return [];
    }
    const names = namesIn(fault);
    // The same is missing in the same file: a consequence of the first fault.
    if (known.has(`${file} ${names}`)) return [];
    known.add(`${file} ${names}`);
    return [told(fault, `${names === '' ? '' : `missing: ${names}. `}${hint}`)];
  });
  return { ...outcome, output: [...first, ...others, ...(await grouped(unexplained))].join('\n') };
}

const hintFor = (file: string, fault: string): string | undefined =>
  /missing|Cannot find module/.test(fault) ? missing.find(([pattern]) => pattern.test(file))?.[1] : undefined;

function adviceFor(fault: string, events: readonly string[]): string | undefined {
  for (const [pattern, hint] of named) {
    const found = pattern.exec(fault);
    if (found) return hint(found[1] ?? '', found[2] ?? '', events);
  }
  return undefined;
}

/** What the compiler says is missing: `country, intent`. */
function namesIn(fault: string): string {
  const [, listed] = /missing the following properties from type .*': ([^']+)$/m.exec(fault) ?? [];
  const [, single = ''] = /Property '([^']+)' is missing/.exec(fault) ?? [];
  return (listed ?? single).trim().replace(/\.$/, '');
}
