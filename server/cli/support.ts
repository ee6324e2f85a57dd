// What every command of `payments` shares: the database for the time of a command, output for people and for programs.
import { readConfig, type Config } from '../config.ts';
import { createAjv } from '../contract/ajv.ts';
import { loadContract } from '../contract/load.ts';
import { createResponseCheck } from '../contract/responses.ts';
import { createAnnounce, type Announce } from '../events.ts';
import type { Services } from '../handlers/deps.ts';
import { secretsOf } from '../secrets.ts';
import { createServices } from '../services.ts';
import type { Db } from '../store/database.ts';
import { listAccounts } from '../store/merchant-accounts.ts';
import { openStore, type OpenedDatabase } from '../store/open.ts';
import { findPublicUrl } from '../store/settings.ts';
import { createOutbox } from '../webhooks/outbox.ts';
import { openQueue, type Queue } from '../webhooks/queue.ts';

/** A mistake of the operator's: shown as one sentence, exit code 1. */
export class Refused extends Error {}

/** Uses the database that the server runs, or starts it for the time of the command. */
export async function withDatabase<T>(
  work: (database: OpenedDatabase, config: Config) => Promise<T>,
  { size = 2 } = {},
): Promise<T> {
  const config = readConfig();
  const database = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log: () => undefined,
    size,
  });
  try {
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/** The same with what the service itself uses: vault, fingerprints, outcomes. */
export const withServices = <T>(
  work: (database: OpenedDatabase, services: Services, config: Config) => Promise<T>,
  options?: { size?: number },
): Promise<T> =>
  withDatabase(
    async (database, config) => work(database, createServices(config, await secretsOf(config)), config),
    options,
  );

export interface Events {
  database: OpenedDatabase;
  services: Services;
  announce: Announce;
  queue: Queue;
  config: Config;
}

/** The same with events: what is changed here is told to subscribers like any other change. */
export const withEvents = <T>(
  work: (parts: Events) => Promise<T>,
  /** For those who run for long: they look after the queue, and want more connections. */
  { supervise = false, size = 2 } = {},
): Promise<T> =>
  withServices(
    async (database, services, config) => {
      const queue = await openQueue(database.pool, () => undefined, { supervise });
      try {
        const contract = loadContract();
        const check = createResponseCheck(contract.document, createAjv(contract.document));
        const publicUrl = await publicUrlOf(database.db, config);
        const announce = createAnnounce(
          createOutbox(queue, check),
          () => publicUrl,
          () => new Date(),
        );
        return await work({ database, services, announce, queue, config });
      } finally {
        await queue.close();
      }
    },
    { size },
  );

/** Where the service is, which may have been started with another port than this command. */
export const publicUrlOf = async (db: Db, { publicUrl }: Config): Promise<string> =>
  (await findPublicUrl(db)) ?? publicUrl;

/** Refuses an account that does not exist. */
export async function knownAccount(db: Db, id: string): Promise<string> {
  if ((await listAccounts(db)).some((account) => account.id === id)) return id;
  throw new Refused(`There is no merchant account ${id}. See: payments accounts list`);
}

/** Ctrl-C, a service manager, or a terminal that is closed. */
export const untilToldToEnd = (): Promise<void> =>
  new Promise((resolve) => {
    // Waiting for a signal alone keeps no process alive.
    const alive = setInterval(() => undefined, 60_000);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => {
        clearInterval(alive);
        resolve();
      });
  });

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

export const printJson = (value: unknown): void => {
  console.log(JSON.stringify(value, null, 2));
};

/** Columns for people; the same rows as JSON for programs. */
export function printRows(
  rows: Record<string, unknown>[],
  json: boolean | undefined,
  whenEmpty: string,
  /** What an empty list in a column means. */
  empty: Record<string, string> = {},
): void {
  if (json) {
    printJson(rows);
    return;
  }
  if (rows.length === 0) {
    console.log(whenEmpty);
    return;
  }
  const names = Object.keys(rows[0] ?? {});
  const text = rows.map((row) => names.map((name) => cell(row[name], empty[name])));
  const widths = names.map((name, index) =>
    Math.max(name.length, ...text.map((cells) => cells[index]?.length ?? 0)),
  );
  for (const cells of [names, ...text])
    console.log(
      cells
        .map((value, index) => value.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function cell(value: unknown, empty = 'none'): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? empty : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const list = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

export const collect = (value: string, before: string[]): string[] => [...before, value];
