// Lets PostgreSQL keep the plan of a statement that a connection runs again and again: parsing and planning a page of transactions
// takes as long as reading it. pg calls this a named statement.
import type pg from 'pg';
import { codeOf } from '../faults.ts';
import type { Plan } from './execution.ts';
import { configOf, type SendStatement } from './protocol.ts';

/** How a connection plans its next statement. A new one plans anew. */
const settings: Record<Plan | 'once', string> = {
  once: 'set plan_cache_mode = force_generic_plan; reset enable_bitmapscan; reset enable_seqscan',
  anew: 'set plan_cache_mode = auto; reset enable_bitmapscan; reset enable_seqscan',
  anewInOrder: 'set plan_cache_mode = auto; set enable_bitmapscan = off; set enable_seqscan = off',
};

/** Of one connection. The one that was not used for longest is forgotten. */
export const mostNamed = 64;

// The name is not known to this connection any more, or the table has another column since a migration.
const outdated = new Set(['26000', '0A000']);

export interface Naming {
  /**
   * Plans named statements once for any values. Only for connections whose statements need no plan for certain values. By itself
   * PostgreSQL plans a page anew each time (0.4 ms), because it expects the plan for any account to be slower.
   */
  plansOnce: boolean;
}

/** Sends statements to this client, and names what it runs the second time. Statements that are planned anew have no name. */
export function createNamingSend(client: pg.ClientBase, { plansOnce }: Naming): SendStatement {
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
    for (const name of names) void client.query(`deallocate ${name}`).catch(() => undefined);
  };
  let mode: Plan | 'once' = 'anew';
  const planFor = (wanted: typeof mode) => {
    // In a transaction it would be undone by a rollback.
    if (!plansOnce || mode === wanted || client.getTransactionStatus() !== 'I') return;
    mode = wanted;
    // If it fails, so does the statement that follows.
    void client.query(settings[mode]).catch(() => undefined);
  };
  return (text, values, execution = {}) => {
    const { plan, asBytes = false } = execution;
    if (values === undefined || (values.length === 0 && !asBytes)) {
      // It may begin a transaction, in which settings cannot be changed any more.
      if (values !== undefined && mode === 'anewInOrder') planFor('once');
      // Without parameters, one message is enough.
      return client.query(text);
    }
    const name = plan === undefined ? nameOf(text) : undefined;
    deallocate();
    planFor(plan ?? 'once');
    const send = () => client.query(configOf(text, values, execution));
    if (name === undefined) return send();
    return client.query(configOf(text, values, execution, name)).catch((error: unknown) => {
      if (!outdated.has(codeOf(error) ?? '')) throw error;
      forget(text);
      // A transaction has failed as a whole.
      if (client.getTransactionStatus() !== 'I') throw error;
      return send();
    });
  };
}
