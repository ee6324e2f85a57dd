// Says in the log which statement failed, and who waited for it. Only in the sandbox and in tests.
import type { LogEvent } from 'kysely';

/** Between a statement and who wrote it there are ten frames of libraries. */
export function lengthenStacks(): void {
  Error.stackTraceLimit = 30;
}

/** The statement has placeholders: the values are no part of it. */
export function noteStatement(event: LogEvent): void {
  if (event.level !== 'error' || !(event.error instanceof Error)) return;
  const { error, query } = event;
  const { position } = error as { position?: string };
  const at = position === undefined ? 0 : Number(position) - 1;
  const mark = position === undefined ? '' : '▶';
  const text = `${query.sql.slice(0, at)}${mark}${query.sql.slice(at)}`;
  Object.assign(error, { statement: text.replace(/\s+/g, ' ').trim() });
}
