// Says which statement failed, and who wrote it. Only in the sandbox and in tests: it takes some microseconds per statement.
import { PostgresQueryCompiler, type CompiledQuery, type LogEvent } from 'kysely';

const writers = new WeakMap<CompiledQuery, Error>();
const mostFrames = 30;

/** Kysely compiles a statement where it is written. Where it fails, most frames are those of libraries. */
export class NotingCompiler extends PostgresQueryCompiler {
  override compileQuery(...args: Parameters<PostgresQueryCompiler['compileQuery']>): CompiledQuery {
    const compiled = super.compileQuery(...args);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = mostFrames;
    writers.set(compiled, new Error());
    Error.stackTraceLimit = stackTraceLimit;
    return compiled;
  }
}

/** Adds both to the error, for the log. A statement has placeholders: the values are no part of it. */
export function noteStatement(event: LogEvent): void {
  if (event.level !== 'error' || !(event.error instanceof Error)) return;
  const { error, query } = event;
  // After the line of its message, and that of the compiler.
  const [, , ...frames] = writers.get(query)?.stack?.split('\n') ?? [];
  if (frames.length > 0) error.stack = [String(error), ...frames].join('\n');
  const { position } = error as { position?: string };
  const at = position === undefined ? 0 : Number(position) - 1;
  const mark = position === undefined ? '' : '▶';
  const text = `${query.sql.slice(0, at)}${mark}${query.sql.slice(at)}`;
  Object.assign(error, { statement: text.replace(/\s+/g, ' ').trim() });
}
