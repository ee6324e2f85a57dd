/**
 * Runs before every test file. It looks at each statement that the service sends to PostgreSQL in this process, at the driver,
 * and fails the file in which one does not name the merchant account. Statements of tests and of migrations are free.
 */
import { join } from 'node:path';
import { PostgresQueryCompiler } from 'kysely';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { createCheck } from './account-statements.ts';

interface Recorder {
  /** Statements that passed, so that each is looked at once. */
  passed: Set<string>;
  /** Statements that did not, but were written by a test or a migration. */
  free: Set<string>;
  /** Statements that did not, and were written by the service, also if a test has written the same. */
  bound: Set<string>;
  faults: Map<string, string>;
}

const root = join(import.meta.dirname, '..', '..');
const name = Symbol.for('payments: recorder of statements');
const holder = globalThis as unknown as Record<symbol, Recorder | undefined>;
// One for the worker, although this file is run again before each test file.
const recorder = (holder[name] ??= record(inject('accountTables')));

// Undefined in a run that has no database.
function record(tables: string[] | undefined): Recorder {
  const made: Recorder = { passed: new Set(), free: new Set(), bound: new Set(), faults: new Map() };
  if (tables === undefined) return made;
  const faultOf = createCheck(tables);
  const passes = (text: string) => {
    if (made.passed.has(text)) return true;
    if (faultOf(text) !== undefined) return false;
    made.passed.add(text);
    return true;
  };

  // The driver does not know who wrote a statement. Kysely compiles it where it is written, before anything is awaited.
  const compiler = PostgresQueryCompiler.prototype;
  // oxlint-disable-next-line typescript/unbound-method -- called with the `this` of the caller
  const compile = compiler.compileQuery;
  compiler.compileQuery = function (...args) {
    const compiled = compile.apply(this, args);
    if (!passes(compiled.sql)) (isFree(writer()) ? made.free : made.bound).add(compiled.sql);
    return compiled;
  };

  const client = pg.Client.prototype as unknown as Sending;
  const send = client.query;
  client.query = function (...args) {
    const text = typeof args[0] === 'string' ? args[0] : args[0]?.text;
    const isOfService = this.connectionParameters.application_name?.startsWith('payments-service') === true;
    if (isOfService && text !== undefined) {
      const isBound = made.bound.has(text) || !made.free.has(text);
      if (!passes(text) && isBound) made.faults.set(text, faultOf(text) ?? '');
    }
    const sending = send.apply(this, args);
    return sending instanceof Promise ? sending.catch(addHint) : sending;
  };
  return made;
}

/** Where a test calls the store itself, no log has the hint. Vitest shows the properties of an error. */
async function addHint(error: unknown): Promise<never> {
  const { hints } = await import('../../server/kit/log/log.ts');
  const hint = error instanceof pg.DatabaseError ? hints[error.code ?? ''] : undefined;
  throw hint === undefined ? error : Object.assign(error as pg.DatabaseError, { hint });
}

interface Sending {
  connectionParameters: { application_name?: string | undefined };
  query: (this: Sending, ...args: [(string | { text?: string })?, ...unknown[]]) => unknown;
}

/** The file of the project that runs now. */
function writer(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const lines = new Error().stack?.split('\n') ?? [];
  Error.stackTraceLimit = stackTraceLimit;
  const files = lines.flatMap((line) => line.split(`${root}/`)[1] ?? []);
  // These call the compiler for all.
  const callers = /^(test\/support\/statements|node_modules)/;
  return files.find((file) => !callers.test(file)) ?? '';
}

const isFree = (file: string) => /^(test|scripts|server\/(kit\/)?migrations)\//.test(file);

afterAll(() => {
  const found = [...recorder.faults].map(
    ([text, fault]) => `${fault}: ${text.replace(/\s+/g, ' ').slice(0, 400)}`,
  );
  recorder.faults.clear();
  if (found.length > 0)
    throw new Error(
      `These statements do not name the merchant account (docs/decisions/0018-account-first.md):\n${found.join('\n')}`,
    );
});
