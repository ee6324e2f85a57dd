// Lets PostgreSQL keep the plan of a statement that a connection runs again and again: parsing and planning a page of transactions
// takes as long as reading it. pg calls this a named statement.
import { sql } from 'kysely';
import type pg from 'pg';
import { codeOf } from '../faults.ts';
import type { BytesConfig } from './protocol.ts';

/** In a statement that PostgreSQL must plan for the values of each call: a plan for any values of a filter is far slower. */
export const plannedAnew = sql.raw('/* planned anew */');
/**
 * The same for a statement that must read an index in its order until the page is full. PostgreSQL multiplies the shares of several
 * filters, so it may expect few rows where there are many, and then reads and sorts all of them.
 */
export const plannedInOrder = sql.raw('/* planned anew, in order */');
const isPlannedAnew = (text: string) => text.startsWith('/* planned anew');
export const isInOrder = (text: string) => text.startsWith('/* planned anew, in order */');

/** How a connection plans its next statement. A new one plans anew. */
const settings = {
  once: 'set plan_cache_mode = force_generic_plan; reset enable_bitmapscan; reset enable_seqscan',
  anew: 'set plan_cache_mode = auto; reset enable_bitmapscan; reset enable_seqscan',
  inOrder: 'set plan_cache_mode = auto; set enable_bitmapscan = off; set enable_seqscan = off',
};

/** Of one connection. The one that was not used for longest is forgotten. */
export const mostNamed = 64;

// The name is not known to this connection any more, or the table has another column since a migration.
const outdated = new Set(['26000', '0A000']);

type Query = (text: string | BytesConfig, values?: unknown[]) => Promise<pg.QueryResult>;

export interface Naming {
  /**
   * Plans named statements once for any values. Only for connections whose statements need no plan for certain values. By itself
   * PostgreSQL plans a page anew each time (0.4 ms), because it expects the plan for any account to be slower.
   */
  plansOnce: boolean;
}

/** From now on this connection names what it runs the second time. */
export function nameStatements(client: pg.Client, { plansOnce }: Naming): void {
  const send = client.query.bind(client) as Query;
  /** By text, the least recently used first. Without a name, it was run once. */
  const known = new Map<string, string | undefined>();
  /** Names that the server still has to forget. */
  let unused: string[] = [];
  let made = 0;

  const nameOf = (text: string): string | undefined => {
    const name = known.get(text) ?? (known.has(text) ? `s${(made += 1)}` : undefined);
    known.delete(text);
    known.set(text, name);
    const [oldest = text] = known.keys();
    if (known.size > mostNamed) forget(oldest);
    return name;
  };
  const forget = (text: string) => {
    const name = known.get(text);
    known.delete(text);
    if (name !== undefined) unused.push(name);
  };
  // Not in a transaction: it may have failed, and then refuses everything.
  const deallocate = () => {
    if (unused.length === 0 || client.getTransactionStatus() !== 'I') return;
    const names = unused;
    unused = [];
    // It fails if the server has forgotten one by itself. A name is not used again, so nothing can be confused.
    for (const name of names) void send(`deallocate ${name}`).catch(() => undefined);
  };
  let mode: keyof typeof settings = 'anew';
  const planFor = (wanted: typeof mode) => {
    // In a transaction it would be undone by a rollback.
    if (!plansOnce || mode === wanted || client.getTransactionStatus() !== 'I') return;
    mode = wanted;
    // If it fails, so does the statement that follows.
    void send(settings[mode]).catch(() => undefined);
  };
  const query: Query = (given, own) => {
    const config: BytesConfig =
      typeof given === 'string' ? { text: given, ...(own && { values: own }) } : given;
    const { text, values, queryMode } = config;
    if (values === undefined) return send(given, own);
    if (values.length === 0 && queryMode === undefined) {
      // It may begin a transaction, in which settings cannot be changed any more.
      if (mode === 'inOrder') planFor('once');
      // Without parameters, one message is enough.
      return send(text);
    }
    const isAnew = !known.has(text) && isPlannedAnew(text);
    const name = isAnew ? undefined : nameOf(text);
    deallocate();
    planFor(isInOrder(text) ? 'inOrder' : isAnew ? 'anew' : 'once');
    if (name === undefined) return send(config);
    return send({ ...config, name }).catch((error: unknown) => {
      if (!outdated.has(codeOf(error) ?? '')) throw error;
      forget(text);
      // A transaction has failed as a whole.
      if (client.getTransactionStatus() !== 'I') throw error;
      return send(config);
    });
  };
  // pg-pool and others call it with a callback.
  client.query = ((...args: [string | BytesConfig, unknown[]?, unknown?]) =>
    args.length <= 2 && typeof args[1] !== 'function'
      ? query(...(args as [string | BytesConfig, unknown[]?]))
      : (send as (...all: unknown[]) => unknown)(...args)) as typeof client.query;
}
