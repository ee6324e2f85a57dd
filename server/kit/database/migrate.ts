// Brings the database to this version. Whoever opens it does this: servers and commands. Not by Kysely's Migrator, whose lock
// belongs to a session: see docs/decisions/0027-migrations.md.
import { sql, type Kysely } from 'kysely';
import { codeOf, reasonOf } from '../faults.ts';
import { guide } from '../guides.ts';
import { inTransactionOnce, type Db, type Tx } from './database.ts';
import { DatabaseFault, setupFault } from './faults.ts';
import { lockUntilCommit } from './unit-of-work.ts';

/** For what must change nothing. */
export interface Migrations {
  migrations: Readonly<Record<string, { up: (db: Kysely<unknown>) => Promise<void> }>>;
  /** What 1.0.0 and 1.1.0 compare. */
  digests: Readonly<Record<string, string>>;
  /** Migrations of the kit that are not among these, because one of these does the same: its name. */
  contained?: Readonly<Record<string, string>>;
}

/**
 * The kit's migrations and those of an API are two series, of which each may get later ones without the other. Releases that know only
 * one take such a name for a later one of theirs, and leave it alone.
 */
const isOfKit = (name: string): boolean => name.startsWith('kit-');

/** The last that this version knows of the series of this migration. */
const lastBeside = (name: string, known: readonly string[]): string =>
  known.filter((one) => isOfKit(one) === isOfKit(name)).reduce((last, one) => (one > last ? one : last), '');

export async function refusePending(db: Db, place: string, given: Migrations): Promise<string[]> {
  const applied = await listApplied(db);
  if (pendingAfter(given, applied).length === 0) return [];
  throw new DatabaseFault(
    applied.length > 0
      ? `The database ${place} is not migrated to this version, and this command does not migrate it. Start the service first.`
      : `The database ${place} has no tables of this service. Check DATABASE_URL (or DATABASE_URL_FILE), or start the service first, which creates them.`,
  );
}

/**
 * A mistyped DATABASE_URL must not add our tables to those of another application, or of another branch. Returns the last migration
 * of a newer version, if one has used the database.
 */
export async function refuseUnknown(
  db: Db,
  place: string,
  { migrations, contained }: Migrations,
): Promise<string | undefined> {
  // First the tables, then the migrations: another instance may migrate meanwhile, and commits both at once.
  const tables = await listTables(db);
  const applied = await listApplied(db);
  const known = Object.keys({ ...migrations, ...contained });
  const other = applied.find((name) => name < lastBeside(name, known) && !known.includes(name));
  if (other !== undefined)
    throw new DatabaseFault(
      `The database ${place} has the migration ${other}, which this version does not have. ` +
        'Use an empty database: for a sandbox delete DATA_DIR (.data), otherwise change DATABASE_URL (or DATABASE_URL_FILE).',
    );
  if (applied.length > 0)
    return applied
      .filter((name) => name > lastBeside(name, known))
      .sort()
      .at(-1);
  if (tables.length === 0) return undefined;
  const more = tables.length > 5 ? ', …' : '';
  throw new DatabaseFault(
    `The database ${place} has tables of another application (${tables.slice(0, 5).join(', ')}${more}). Check DATABASE_URL (or DATABASE_URL_FILE).`,
  );
}

/** Requests have any text, which another encoding could not store. A database that is in use already is left alone. */
async function refuseEncoding(db: Db): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`
    select current_setting('server_encoding') as encoding`.execute(db);
  const { encoding = '' } = rows[0] ?? {};
  if (encoding === 'UTF8') return;
  throw new DatabaseFault(
    `The database has the encoding ${encoding}, which cannot store and count every text. Create it anew: createdb --encoding=UTF8 --template=template0 NAME`,
  );
}

/** Without those of extensions, and without partitions of tables elsewhere. */
async function listTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = (select oid from pg_namespace where nspname = current_schema()) and relkind in ('r', 'p')
      and not relispartition
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
    order by relname`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Returns the names of the migrations that it applied. Each has a transaction of its own: the locks of one would otherwise stop the
 * instances that serve meanwhile until all are done, and two together can deadlock with them. Several instances may start at once.
 * Migrations of a later version are left alone: during a rolling upgrade an instance of this version may be restarted, and must serve on.
 */
export async function migrate(db: Db, given: Migrations): Promise<string[]> {
  const done: string[] = [];
  try {
    if ((await listApplied(db)).length === 0) await refuseEncoding(db);
    // Most starts have nothing to do, and need no lock.
    while (pendingAfter(given, await listApplied(db)).length > 0)
      done.push(...(await inTransactionOnce(db, (tx) => applyNext(tx, given))));
    return done;
  } catch (error) {
    if (error instanceof DatabaseFault) throw error;
    const message = setupFault(error) ?? `The database could not be migrated: ${reasonOf(error)}`;
    throw new DatabaseFault(message, { cause: error });
  }
}

/** Returns its name; nothing if another instance has applied it meanwhile. */
async function applyNext(tx: Tx, given: Migrations): Promise<string[]> {
  const { migrations, digests } = given;
  await lockUntilCommit(tx, 'migrations');
  await sql`
    create table if not exists applied_migrations (
      name text primary key,
      digest text not null,
      applied_at timestamptz(3) not null default now()
    )`.execute(tx);
  const [name] = pendingAfter(given, await listApplied(tx));
  if (name === undefined) return [];
  await migrations[name]?.up(tx as unknown as Kysely<unknown>).catch(blame(name, digests[name] ?? ''));
  // 1.0.0 and 1.1.0 compare the digest with that of their own file, and refuse another one.
  await sql`insert into applied_migrations (name, digest) values (${name}, ${digests[name] ?? ''})`.execute(
    tx,
  );
  return [name];
}

/** Tables, columns or indexes are there already, or an index that goes is gone: `applied_migrations` may have lost the row. */
const appliedBefore = ['42P07', '42701', '42710', '42704'];

/** Names the migration that failed, and its line where the stack has it, as in a checkout of the project. */
const blame =
  (name: string, digest: string) =>
  (error: unknown): never => {
    const stack = error instanceof Error ? error.stack : undefined;
    const [place] =
      new RegExp(`server/(kit/)?migrations/${name.replace(/^kit-/, '')}\\.ts:\\d+`).exec(stack ?? '') ?? [];
    const where = place === undefined ? '' : ` (${place})`;
    const advice = appliedBefore.includes(codeOf(error) ?? '')
      ? `It may have been applied before without being recorded${digest && `, with digest ${digest}`}: see "A migration that is not recorded" in ${guide('guides/operator.md')}.`
      : 'Nothing of it was applied: correct it and start again.';
    const failed = `Migration ${name} failed${where}: ${reasonOf(error)}. ${advice}`;
    throw new DatabaseFault(setupFault(error) ?? failed, { cause: error });
  };

/** The kit's go first, but for those that go on from what others contain. */
function pendingAfter({ migrations, contained = {} }: Migrations, applied: string[]): string[] {
  const lastContaining = Object.values(contained).sort().at(-1) ?? '';
  const turnOf = (name: string) => (isOfKit(name) ? 1 : name <= lastContaining ? 0 : 2);
  return Object.keys(migrations)
    .filter((name) => !applied.includes(name))
    .sort((one, other) => turnOf(one) - turnOf(other) || (one < other ? -1 : 1));
}

/** Empty if this service has never used the database. */
async function listApplied(db: Db | Tx): Promise<string[]> {
  const { rows: found } = await sql<{ table: string | null }>`
    select to_regclass('applied_migrations')::text as table`.execute(db);
  if (found[0]?.table == null) return [];
  const { rows } = await sql<{ name: string }>`select name from applied_migrations`.execute(db);
  return rows.map(({ name }) => name);
}
