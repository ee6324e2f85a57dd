// Brings the database to this version. Whoever opens it does this: servers and commands.
import { setTimeout as wait } from 'node:timers/promises';
import { Migrator, sql, type Kysely, type Migration } from 'kysely';
import { DatabaseFault, reasonOf, setupFault, type Db } from './database.ts';
import { withLock } from './locks.ts';
import { digests, migrations } from './migrations/index.ts';
import type { Progress } from './online.ts';

const pollMilliseconds = 100;

/** For what must change nothing. */
export async function refusePending(db: Db, place: string): Promise<string[]> {
  const { pending, isOurs } = await findState(db);
  if (pending.length === 0) return [];
  throw new DatabaseFault(
    isOurs
      ? `The database ${place} is not migrated to this version, and this command changes nothing. Start the service first.`
      : `The database ${place} has no tables of this service. Check DATABASE_URL, or start the service first, which creates them.`,
  );
}

/** A mistyped DATABASE_URL must not add our tables to those of another application. */
export async function refuseOtherApplication(db: Db, place: string): Promise<void> {
  // First the tables, then the migrations: another instance may migrate meanwhile, and commits both at once.
  const tables = await listTables(db);
  if (tables.length === 0 || (await findState(db)).isOurs) return;
  const more = tables.length > 5 ? ', …' : '';
  throw new DatabaseFault(
    `The database ${place} has tables of another application (${tables.slice(0, 5).join(', ')}${more}). Check DATABASE_URL.`,
  );
}

/** Without those of extensions, partitions and the tables that Kysely creates before our first migration. */
async function listTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = (select oid from pg_namespace where nspname = current_schema())
      and relkind = 'r' and not relispartition
      and relname not in ('kysely_migration', 'kysely_migration_lock')
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
    order by relname limit 6`.execute(db);
  return rows.map(({ name }) => name);
}

/** Returns the names of the migrations that it applied. Several instances may start at once. */
export async function migrate(db: Db, progress: Progress = () => undefined): Promise<string[]> {
  try {
    // Most starts have nothing to do, and need neither a lock nor a second connection.
    const { pending, isKnown } = await findState(db);
    if (pending.length === 0 && isKnown) return [];
    // Polls, because `create index concurrently` waits for every statement that is older, also for one that waits for a lock.
    for (;;) {
      const migrated = await withLock(db, 'migrations', () => migrateAlone(db, progress));
      if (migrated) return migrated.done;
      await wait(pollMilliseconds);
    }
  } catch (error) {
    if (error instanceof DatabaseFault) throw error;
    const message = setupFault(error) ?? `The database could not be migrated: ${reasonOf(error)}`;
    throw new DatabaseFault(message, { cause: error });
  }
}

/** For a sandbox, after migrations: what was added to a migration after it was applied is missing, and nothing else says so. */
export async function refuseChanged(db: Db): Promise<void> {
  const name = 'migrations';
  const found = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  const noted = Object.fromEntries((found?.value ?? '').split('\n').map((line) => line.split(' '))) as Record<
    string,
    string | undefined
  >;
  const changed = Object.keys(digests).filter((one) => (noted[one] ?? digests[one]) !== digests[one]);
  if (changed.length > 0)
    throw new DatabaseFault(
      `${changed.join(', ')} ${changed.length > 1 ? 'were' : 'was'} edited after this database had applied it, and no migration is applied twice. ` +
        'Delete DATA_DIR (.data), or the database of DATABASE_URL, and start again; or undo the edit.',
    );
  const value = Object.entries({ ...noted, ...digests })
    .filter(([one]) => one !== '')
    .map((pair) => pair.join(' '))
    .join('\n');
  if (value === found?.value) return;
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

async function migrateAlone(db: Db, progress: Progress): Promise<string[]> {
  const { isFresh, later, pending } = await findState(db);
  const known: Record<string, Migration> = {};
  for (const [name, migration] of Object.entries(migrations)) {
    const inTransaction = (tx: Kysely<unknown>) => {
      if ('up' in migration) return migration.up(tx);
      return isFresh ? migration.online({ db: tx, isFresh, progress: () => undefined }) : Promise.resolve();
    };
    known[name] = {
      up: (tx) =>
        inTransaction(tx).catch(blame(name, 'Nothing of it was applied: correct it and start again.')),
    };
  }
  for (const name of later) known[name] = { up: () => Promise.resolve() };
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(known) } });

  const applied: string[] = [];
  const apply = async (last?: string) => {
    const { error, results = [] } = await (last === undefined
      ? migrator.migrateToLatest()
      : migrator.migrateTo(last));
    if (error) throw error instanceof Error ? error : new Error(reasonOf(error));
    applied.push(...results.map(({ migrationName }) => migrationName));
  };
  for (const [index, name] of isFresh ? [] : pending.entries()) {
    const migration = migrations[name];
    if (!migration || 'up' in migration) continue;
    // All before it, in one transaction. Then it is done in steps, and noted as applied when it is complete.
    if (index > 0) await apply(pending[index - 1]);
    progress(`migrating the database: ${name}`);
    await migration.online({ db: db as Kysely<unknown>, isFresh, progress }).catch(blame(name));
    await apply(name);
  }
  await apply();
  return applied;
}

/** Names the migration that failed, and its line where the stack has it, as in a checkout of the project. */
const blame =
  (name: string, advice = '') =>
  (error: unknown): never => {
    const stack = error instanceof Error ? error.stack : undefined;
    const [place] = new RegExp(`server/store/migrations/${name}\\.ts:\\d+`).exec(stack ?? '') ?? [];
    const where = place === undefined ? '' : ` (${place})`;
    const failed = `Migration ${name} failed${where}: ${reasonOf(error)}. ${advice}`.trim();
    throw new DatabaseFault(setupFault(error) ?? failed, { cause: error });
  };

interface State {
  isFresh: boolean;
  pending: string[];
  /** Whether one of our migrations was applied. */
  isOurs: boolean;
  /**
   * Migrations that a later version has applied. Kysely refuses a database with migrations that it does not know, but during a
   * rolling upgrade an instance of this version may be restarted, and must serve on.
   */
  later: string[];
  /** Whether all others that were applied are ours. If not, Kysely says which one is missing. */
  isKnown: boolean;
}

async function findState(db: Db): Promise<State> {
  const names = Object.keys(migrations).sort();
  const { rows: found } = await sql<{ table: string | null }>`
    select to_regclass('kysely_migration')::text as table`.execute(db);
  if (found[0]?.table == null)
    return { isFresh: true, isOurs: false, later: [], pending: names, isKnown: true };
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const applied = rows.map(({ name }) => name);
  const last = names.at(-1) ?? '';
  return {
    isFresh: applied.length === 0,
    isOurs: names.some((name) => applied.includes(name)),
    later: applied.filter((name) => name > last),
    pending: names.filter((name) => !applied.includes(name)),
    isKnown: applied.every((name) => name > last || names.includes(name)),
  };
}
