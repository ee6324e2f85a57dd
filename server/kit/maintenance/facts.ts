// What metrics, the daily jobs, doctor, a rotation of the card key and erasures need to know of a table. Each table says it in the
// facts.ts beside its table.ts, and the program lists them all: a fact or a table that is forgotten does not compile.
import type { Insertable, RawBuilder, Selectable } from 'kysely';
import type { Logger } from 'pino';
import type { SqlType } from '../database/columns.ts';
import type { Db, Tx } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { InUnitOfWork } from '../database/unit-of-work.ts';
import type { ErasureRules } from '../rules/erasure.ts';

/** What most tables answer. A table begins with it (`...plain`), and says what differs: what it denies in vain does not compile. */
export const plain = {
  gauges: 'none',
  daily: 'none',
  retention: 'forever',
  checks: 'none',
  sealed: 'none',
  erasure: 'kept',
  placeholder: 'none',
} as const;

/** `Shown` is the record whose properties are erased, where that is not the row. */
export interface Facts<Name extends keyof Tables, Shown = Selectable<Tables[Name]>> extends KitFacts<
  Extract<keyof Tables[Name], string>
> {
  /** When a person is erased: what becomes of each column of a row about that person, or of the whole row. */
  erasure: 'kept' | 'deleted' | ErasureRules<Shown>;
  /** A row that says nothing, if rows may be deleted whose values nobody may find: statistics of an empty table are not renewed. */
  placeholder: 'none' | { idColumn: keyof Tables[Name]; row: Partial<Insertable<Tables[Name]>> };
}

/** What the kit itself reads. */
export interface KitFacts<Column extends string> {
  /** The columns of the primary key, without the merchant account. */
  key: Readonly<Partial<Record<Column, SqlType>>>;
  /** Whether its rows belong to merchant accounts: the account is then the first column of the primary key. */
  isByAccount: 'merchant_account_id' extends Column ? boolean : false;
  gauges: 'none' | readonly TableGauge[];
  /** Jobs beside the retention, by name. Each returns how many records it changed. */
  daily: 'none' | Readonly<Record<string, (deps: DailyDeps) => Promise<number>>>;
  retention: 'forever' | Retention<Column>;
  /** What `doctor` checks, by the sentence that it prints. */
  checks: 'none' | Readonly<Record<string, Check>>;
  sealed: SealedColumns<Column>;
}

export type AllFacts = Readonly<Record<string, KitFacts<string>>>;

/** A number that each scrape reads, or several that a label tells apart. */
export interface TableGauge {
  name: string;
  help: string;
  label?: string;
  read: (db: Db) => Promise<number | Record<string, number>>;
}

export interface DailyDeps {
  db: Db;
  inUnitOfWork: InUnitOfWork;
  log: Logger;
}

export interface Retention<Column extends string = string> {
  /** The name of the job that deletes older rows. */
  job: string;
  /** Undefined: for ever. */
  milliseconds: (days: RetentionDays) => number | undefined;
  /** The column that tells its age. An index begins with it, or with the merchant account and it. */
  time: Column;
  /** Whether that column has milliseconds since 1970. */
  isNumber?: true;
  /** What is kept however old it is. */
  unless?: (account: string) => RawBuilder<unknown>;
  andThen?: (tx: Tx, account: string, keys: readonly string[]) => Promise<void>;
}

export interface RetentionDays {
  /** Events and their deliveries; until then they can be listed and replayed. */
  eventRetentionDays: number;
  /** Undefined: for ever. */
  auditRetentionDays: number | undefined;
}

/** Selects the IDs of what is broken: in an account that has rows there, or in all. */
type Check = ((account: string) => RawBuilder<unknown>) | { inAll: (tx: Tx) => Promise<RawBuilder<unknown>> };

type SealedName<Column> = Extract<Column, `${string}_sealed`>;

/** In the order in which a rotation goes through them. A column that is named so has to be here. */
type SealedColumns<Column extends string> =
  | ([SealedName<Column>] extends [never] ? 'none' : never)
  | (Readonly<Record<SealedName<Column>, SealedFact>> & { readonly [Name in Column]?: SealedFact });

/** What its values are bound to; more where the column is not the value, or `merchant_account_id` not the owner. */
export type SealedFact = string | (Pick<SealedColumn, 'purpose'> & Partial<SealedColumn>);

export interface SealedColumn {
  purpose: string;
  /** SQL expression for the owner that its values are bound to. */
  owner: RawBuilder<string | null>;
  /** SQL expression that reads the sealed text. */
  value: RawBuilder<string>;
  /** SQL assignment that replaces the sealed text with `given.fresh`. */
  assignment: RawBuilder<unknown>;
  /** Which rows have one. */
  only: RawBuilder<unknown>;
}
