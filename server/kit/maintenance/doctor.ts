// Invariants of the data. Each is checked account by account, with read-only statements that have no time limit.
import { sql, type RawBuilder } from 'kysely';
import { listAccountsWith } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import { inSnapshot } from '../database/unit-of-work.ts';
import type { AllFacts } from './facts.ts';

export interface Finding {
  check: string;
  broken: number;
  examples: string[];
  /** What an operator should know although nothing is broken. */
  note?: string;
}

const shown = 5;

async function findBroken(
  tx: Tx,
  check: string,
  statements: readonly RawBuilder<unknown>[],
): Promise<Finding> {
  const finding: Finding = { check, broken: 0, examples: [] };
  for (const statement of statements) {
    const { rows } = await sql<{ total: number; examples: string[] }>`
      with broken (id) as materialized (${statement})
      select (select count(*) from broken) as total,
        array(select id from broken limit ${sql.lit(shown)}) as examples`.execute(tx);
    finding.broken += rows[0]?.total ?? 0;
    finding.examples = [...finding.examples, ...(rows[0]?.examples ?? [])].slice(0, shown);
  }
  return finding;
}

/** All in one read-only snapshot, so that a service that is running does not look broken. */
export const findBrokenInvariants = (db: Db, facts: AllFacts): Promise<Finding[]> =>
  inSnapshot(db, async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    // Unlike a request, it reads all rows of tables. This is PostgreSQL's own default.
    await sql`set local max_parallel_workers_per_gather = 2`.execute(tx);
    const findings: Finding[] = [];
    const inAll: Finding[] = [];
    for (const [table, { checks }] of Object.entries(facts)) {
      if (checks === 'none') continue;
      const accounts = await listAccountsWith(tx, table);
      for (const [check, select] of Object.entries(checks))
        if (typeof select === 'function') findings.push(await findBroken(tx, check, accounts.map(select)));
        else inAll.push(await findBroken(tx, check, [await select.inAll(tx)]));
    }
    return [...findings, ...inAll];
  });
