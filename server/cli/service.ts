// Opens the service for the duration of a command, and writes the audit entry of what the command changes.
import { hostname } from 'node:os';
import { programName, type EventName } from '../../generated/operations.ts';
import { missingFault, readCommandConfig, readOperator, type Config } from '../config.ts';
import { openReadyDatabase, type OpenedDatabase } from '../database.ts';
import { findAccount, listAccounts } from '../kit/access/accounts/queries.ts';
import { noSandbox } from '../kit/cli/output.ts';
import { loadContract, resolve } from '../kit/contract/load.ts';
import type { Db } from '../kit/database/database.ts';
import { hasDatabase } from '../kit/database/embedded/index.ts';
import { findPublicUrl } from '../kit/database/environment.ts';
import {
  createUnitOfWork,
  inTransactionOnce,
  inWork,
  type InUnitOfWork,
  type UnitOfWork,
  type Work,
  type AuditedChange,
  type InStep,
} from '../kit/database/unit-of-work.ts';
import { createOutbox } from '../kit/events/outbox.ts';
import { OperatorFault } from '../kit/faults.ts';
import { isInstallation, shellWord } from '../kit/installation.ts';
import { writeAuditEntry } from '../kit/maintenance/audit.ts';
import { allAccounts, type Accounts } from '../kit/rules/accounts.ts';
import { openSecrets, type Secrets } from '../open-secrets.ts';

export interface Call {
  /** What was typed after the name of the program, without `--settings`. */
  readonly args: readonly string[];
  /** Whether what follows an option is personal data: the audit trail, which is kept, has only the names of such options. */
  readonly isPersonal?: (option: string) => boolean;
}

export interface OpenedService {
  database: OpenedDatabase;
  db: Db;
  config: Config;
  /** Opened at their first use: most commands need only the database. */
  readonly secrets: Secrets;
  /** One transaction, for changes that have no events. Whoever changes something calls `unit.audit`. */
  change: <T>(work: (unit: Work & AuditedChange) => Promise<T>) => Promise<T>;
  /** The same for changes that send events like those of the API. */
  changeWithEvents: <T>(work: (unit: UnitOfWork & AuditedChange) => Promise<T>) => Promise<T>;
}

interface Options {
  /** For commands that change something: without a sandbox they create one. The others change nothing. */
  creates?: boolean;
  size?: number;
  isLong?: boolean;
  /** False for changes that read a stream. */
  isRepeatable?: boolean;
}

/** Uses the database of the running server, or starts one for the duration of the command. */
export async function withService<T>(
  call: Call,
  work: (service: OpenedService) => Promise<T>,
  { creates = false, size = 2, isLong = false, isRepeatable = true }: Options = {},
): Promise<T> {
  const config = readCommandConfig();
  // Without a sandbox, a command that only reads was called in the wrong folder.
  if (config.databaseUrl === undefined && !hasDatabase(config.dataDir)) {
    // An installation is usually a production server, whose settings are missing here.
    if (!creates || isInstallation()) throw noSandbox(config.dataDir);
    console.error(`There was no sandbox in ${config.dataDir}; this command creates one.`);
  }
  const interruption = config.databaseUrl === undefined ? watchSignals() : undefined;
  const database = await openReadyDatabase({
    // A list must not migrate what a mistyped DATABASE_URL leads to. The embedded database is always ours.
    readOnly: !creates && config.databaseUrl !== undefined,
    environment: config.environment,
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    isPooled: config.databasePooler !== undefined,
    command: nameOf(call),
    log: () => undefined,
    size,
    // The connection, too, must not give up on a statement that may take long.
    ...(isLong ? { statementMilliseconds: 0 } : {}),
  });
  const { db } = database;
  let secrets: Secrets | undefined;
  let unitOfWork: Promise<InUnitOfWork> | undefined;
  const service: OpenedService = {
    database,
    db,
    config,
    get secrets() {
      return (secrets ??= openSecrets(config, { readOnly: !creates }));
    },
    change: (change) => {
      const work = audited(call, change);
      return isRepeatable ? inWork(db, work) : inTransactionOnce(db, (tx, now) => work({ db: tx, now }));
    },
    changeWithEvents: async (change) => {
      unitOfWork ??= openUnitOfWork(db, config, isRepeatable);
      return (await unitOfWork)(audited(call, change));
    },
  };
  try {
    return await Promise.race([work(service), ...(interruption ? [interruption.interrupted] : [])]);
  } finally {
    await database.close();
    interruption?.end();
  }
}

/** A command that a signal ends leaves the embedded PostgreSQL running. So it fails, unless it handles the signal itself. */
function watchSignals() {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let fail: (error: Error) => void = () => undefined;
  const interrupted = new Promise<never>((_resolve, reject) => (fail = reject));
  // It may come while the database is opened, when nobody waits for this.
  interrupted.catch(() => undefined);
  const interrupt = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) === 1) fail(new OperatorFault('The command was interrupted.'));
  };
  // Not `once`: one Ctrl-C arrives from the terminal and from npm, and the second would end the process before PostgreSQL has stopped.
  for (const signal of signals) process.on(signal, interrupt);
  const end = () => {
    for (const signal of signals) process.off(signal, interrupt);
  };
  return { interrupted, end };
}

async function openUnitOfWork(db: Db, config: Config, isRepeatable: boolean): Promise<InUnitOfWork> {
  const publicUrl = await publicUrlOf(db, config);
  // Loaded here, because the validators are large, and most commands send no events.
  const { compileResponses } = await import('../kit/contract/compile.ts');
  const outbox = createOutbox(compileResponses(loadContract()));
  return createUnitOfWork({ outbox, publicUrl: () => publicUrl, isRepeatable })(db);
}

/** `webhooks work`, without arguments. */
const nameOf = ({ args }: Call): string =>
  args
    .slice(0, 2)
    .filter((word) => /^[a-z][a-z-]*$/.test(word))
    .join(' ');

export const withChange = <T>(call: Call, work: (unit: Work & AuditedChange) => Promise<T>): Promise<T> =>
  withService(call, ({ change }) => change(work), { creates: true });

export const withPublishedChange = <T>(
  call: Call,
  work: (unit: UnitOfWork & AuditedChange) => Promise<T>,
): Promise<T> => withService(call, ({ changeWithEvents }) => changeWithEvents(work), { creates: true });

const audited =
  <Unit extends Work, T>(call: Call, work: (unit: Unit & AuditedChange) => Promise<T>) =>
  (unit: Unit): Promise<T> =>
    work({ ...unit, audit: (note) => auditCall(unit, call, note) });

/** For work in many transactions: the first that calls `audit` has the entry. */
export function auditOnce(db: Db, call: Call, about?: string): InStep {
  let isNoted = false;
  return async (work) => {
    let notes = false;
    const done = await inWork(db, (unit) => {
      // Anew, because the work may be repeated.
      notes = false;
      const audit = async (note: Note): Promise<void> => {
        if (isNoted || notes) return;
        notes = true;
        await auditCall(unit, call, { about, ...note });
      };
      return work({ ...unit, audit });
    });
    isNoted ||= notes;
    return done;
  };
}

type Note = Parameters<AuditedChange['audit']>[0];

/** What the change is about follows the command, unless that names it: so a search for its ID finds who made it. */
const auditCall = (unit: Work, call: Call, { about }: Note): Promise<void> =>
  writeAuditEntry(unit, {
    operator: readOperator(),
    host: hostname(),
    command:
      about === undefined || call.args.includes(about)
        ? commandLine(call)
        : `${commandLine(call)} # ${about}`,
  });

function commandLine({ args, isPersonal = () => false }: Call): string {
  return args
    .map((word, index) => {
      const before = args[index - 1] ?? '';
      if (before.startsWith('--') && isPersonal(before)) return '…';
      const [, option = ''] = /^(--[^=]+)=/.exec(word) ?? [];
      return option !== '' && isPersonal(option) ? `${option}=…` : shellWord(withoutQuery(word));
    })
    .join(' ');
}

/** That of a receiver's URL may have a token in it. */
const withoutQuery = (word: string): string => word.replace(/^(https?:[^?#]*)[?#].*/s, '$1?…');

/** Prefers the URL of the running service, because its PORT may differ from that of this command. */
export async function publicUrlOf(db: Db, { environment, publicUrl }: Config): Promise<string> {
  const noted = await findPublicUrl(db);
  if (noted !== undefined) return noted;
  // The default, which is for a sandbox: in production it is https.
  if (environment === 'production' && publicUrl.startsWith('http:')) throw missingFault(['PUBLIC_URL']);
  return publicUrl;
}

/** What an event shows in its first example in the contract. */
export function exampleTarget(name: EventName): object {
  const { document } = loadContract();
  const { examples = {} } = document.webhooks[name]?.post.requestBody?.content['application/json'] ?? {};
  const [first] = Object.values(examples);
  const { value } = resolve<{ value?: { target?: object } }>(document, first as { $ref: string });
  if (!value?.target) throw new Error(`The contract has no example of ${name}.`);
  return value.target;
}

/** What `--merchant-account` names: one that exists, or all. */
export const readAccounts = async (db: Db, id: string): Promise<Accounts> =>
  id === allAccounts ? 'all' : { only: [await requireAccount(db, id)] };

/** The newest rows of all these accounts together. */
export async function listNewest<Row extends { created_at: Date }>(
  db: Db,
  accounts: Accounts,
  limit: number,
  list: (account: string) => Promise<Row[]>,
): Promise<Row[]> {
  const ids = accounts === 'all' ? (await listAccounts(db)).map(({ id }) => id) : accounts.only;
  let newest: Row[] = [];
  // One after the other: the database of a command has few connections, and there may be thousands of accounts.
  for (const account of ids)
    newest = [...newest, ...(await list(account))]
      .sort((one, other) => other.created_at.getTime() - one.created_at.getTime())
      .slice(0, limit);
  return newest;
}

export async function requireAccount(db: Db, id: string): Promise<string> {
  if (await findAccount(db, id)) return id;
  throw notFound('merchant account', id, 'accounts list');
}

/** `list` is the command that lists what there is. */
export const notFound = (noun: string, id: string, list: string): OperatorFault =>
  new OperatorFault(`There is no ${noun} ${id}. See: ${programName} ${list}`);

export const noSubscription = (id: string): OperatorFault => notFound('subscription', id, 'webhooks list');
