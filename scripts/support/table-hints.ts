// What to do about a statement that names a table which the store does not know. The compiler goes on with a table that has any
// column, or none, and finds more faults: in the same file, and where its rows are used.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../lint/did-you-mean.ts';
import { didYouMean, placeOf } from './faults.ts';
import { root } from './root.ts';

const list = 'server/store/tables/index.ts';

const unknownTable =
  /Argument of type '"(\w+)(?: as \w+)?"' is not assignable to parameter of type '(?:TableExpression(?:OrList)?<Tables|keyof Tables'|[^']*"audit_entries" \|)/;
const follows = /\{ \[x: string\]: |Type '\{\}'|type 'Keyed|Type 'Keyed|value: Keyed|error TS70(?:06|31)/;

interface Found {
  /** The first fault of each table. */
  tables: { fault: string; hint: string }[];
  /** What may follow from them. */
  folded: number;
  rest: string[];
}

export async function findUnknownTables(faults: string[]): Promise<Found> {
  const first = new Map<string, string>();
  const files = new Set<string>();
  for (const fault of faults) {
    const table = unknownTable.exec(fault)?.[1];
    if (table === undefined) continue;
    if (!first.has(table)) first.set(table, fault);
    files.add(placeOf(fault).file);
  }
  if (first.size === 0) return { tables: [], folded: 0, rest: faults };
  const known = (await readFile(join(root, list), 'utf8')).match(/(?<=^ {2})\w+(?=:)/gm) ?? [];
  const tables = [...first].map(([table, fault]) => ({
    fault,
    hint:
      `no table ${table} is known.${didYouMean(nearest(table, known))} For a new one: npm run new -- table ${table}, ` +
      `which also lists it in ${list} (docs/guides/backend-engineer.md, "A table").`,
  }));
  const rest = faults.filter((fault) => !files.has(placeOf(fault).file) && !follows.test(fault));
  return { tables, folded: faults.length - rest.length - tables.length, rest };
}
