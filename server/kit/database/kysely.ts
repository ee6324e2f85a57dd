// Kysely on our connections. A request has a Kysely of its own, which costs little: everything but the way to a connection is shared.
import {
  DefaultQueryExecutor,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresQueryCompiler,
  type Driver,
  type QueryResult,
} from 'kysely';
import { CitusAdapter } from './across-accounts.ts';
import type { Connection } from './connection.ts';
import type { Statement } from './execution.ts';
import type { Tables } from './tables.ts';
import type { Begun, Db } from './unit-of-work.ts';

interface Options {
  isCitus: boolean;
  /** Says in the log which statement failed, and who waited for it. */
  notesStatements: boolean;
}

export function createKysely({ isCitus, notesStatements }: Options): (connect: Connect) => Db {
  // Between a statement and who wrote it there are ten frames of libraries.
  if (notesStatements) Error.stackTraceLimit = 30;
  const run = notesStatements ? executeAndNote : execute;
  const compiler = new PostgresQueryCompiler();
  const adapter = isCitus ? new CitusAdapter() : new PostgresAdapter();
  const dialect = new PostgresDialect({ pool: () => Promise.reject(new Error('never used')) });
  return (connect) => {
    const provideConnection = async <T>(use: (connection: KyselyConnection) => Promise<T>): Promise<T> => {
      const connection = await connect();
      try {
        return await use({
          own: connection,
          executeQuery: (statement: Statement) => run(connection, statement),
          streamQuery,
        });
      } finally {
        connection.release();
      }
    };
    const executor = new DefaultQueryExecutor(compiler, adapter, { provideConnection });
    return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
  };
}

type Connect = () => Promise<Connection>;

/** What Kysely hands on for a connection of ours. */
interface KyselyConnection extends Begun {
  own: Connection;
}

const counted = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

async function execute<Row>(connection: Connection, statement: Statement): Promise<QueryResult<Row>> {
  const { sql: text, parameters, execution } = statement;
  const { command, rowCount, rows } = await connection.query(text, parameters, execution);
  return {
    rows: rows as Row[],
    ...(counted.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}),
  };
}

/** The statement has placeholders: the values are no part of it. */
async function executeAndNote<Row>(connection: Connection, statement: Statement): Promise<QueryResult<Row>> {
  try {
    return await execute(connection, statement);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { position } = error as { position?: string };
    const at = position === undefined ? 0 : Number(position) - 1;
    const mark = position === undefined ? '' : '▶';
    const text = `${statement.sql.slice(0, at)}${mark}${statement.sql.slice(at)}`;
    // Made here, and not for each statement: it also names the functions that await this one.
    const { stack = '' } = new Error();
    error.stack = `${error.stack ?? ''}\n${stack.slice(stack.indexOf('\n') + 1)}`;
    throw Object.assign(error, { statement: text.replace(/\s+/g, ' ').trim() });
  }
}

const streamQuery = (): never => {
  throw new Error('Statements are not streamed.');
};

const driver: Driver = {
  init: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  acquireConnection: () => Promise.reject(new Error('Connections come from provideConnection.')),
  releaseConnection: () => Promise.resolve(),
  beginTransaction: async (connection, { isolationLevel }) => {
    const begun = connection as KyselyConnection;
    begun.began = await begun.own.begin(isolationLevel === 'repeatable read');
  },
  commitTransaction: (connection) => (connection as KyselyConnection).own.end('commit'),
  rollbackTransaction: (connection) => (connection as KyselyConnection).own.end('rollback'),
};
