// How a statement is run: said beside it, so that nothing tells statements apart by their text.
import { CompiledQuery } from 'kysely';
import type { Db } from './unit-of-work.ts';

/**
 * PostgreSQL plans the statement for the values of each call, because a plan for any values is far slower. `anewInOrder`: the plan must also
 * read an index in its order until the page is full. PostgreSQL multiplies the shares of several filters, so it may expect few rows where
 * there are many, and then reads and sorts all of them.
 */
export type Plan = 'anew' | 'anewInOrder';

/** A statement is run without any of these, unless its caller names them. */
export interface Execution {
  plan?: Plan | undefined;
  /** Its texts are returned as Buffers: see protocol.ts. */
  asBytes?: boolean;
  /** What `copy … from stdin` copies, in its text format. */
  copied?: string;
}

/** As Kysely hands it on to our connections. */
export interface Statement<Row = unknown> extends CompiledQuery<Row> {
  readonly execution?: Execution;
}

export function run<Row>(db: Db, query: CompiledQuery<Row>, execution: Execution) {
  const statement: Statement<Row> = { ...query, execution };
  return db.executeQuery<Row>(statement);
}

/** For a statement whose text never changes: Kysely would build and compile it for each request. */
export const runText = <Row>(db: Pick<Db, 'executeQuery'>, text: string, values: readonly unknown[]) =>
  db.executeQuery<Row>(CompiledQuery.raw(text, values as unknown[]));
