// Presenters turn a row into the resource that the API shows, in answers and in events alike. This is their common part.
import type { Columns } from './columns.ts';

/** The shown columns of a row, with timestamps as ISO strings. The table itself ties `Shown` to the type of the row. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name both sides
export function presentColumns<Row extends object, Shown>(columns: Columns): (row: Row) => Shown {
  const entries = Object.entries(columns);
  return (row) => {
    const shown: Record<string, unknown> = {};
    for (const [name, sql] of entries) {
      const value = (row as Record<string, unknown>)[name];
      shown[name] = sql === 'timestamptz' && value !== null ? iso(value as Date | string) : value;
    }
    return shown as Shown;
  };
}

// Rows that PostgreSQL nested as JSON have their timestamps as text.
const iso = (time: Date | string): string => new Date(time).toISOString();
