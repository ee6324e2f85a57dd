/** A database that version 1.0.1 made, with its keys: `test/fixtures/upgrade-1.0.1`, see the README there. */
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createEmptyDatabase, withClient } from './database.ts';

export const fixtureFolder = join(import.meta.dirname, '..', 'fixtures', 'upgrade-1.0.1');

/** What was in the database, in the words that only its maker knew. Card data as SHA-256. */
export interface Fixture {
  made_at: string;
  /** All subscriptions call this address, each with its own path. */
  receiver: string;
  /** The content of `secrets.json`: CARD_KEY has two keys, because a rotation was interrupted. */
  secrets: Record<'CARD_KEY' | 'FINGERPRINT_KEY' | 'CURSOR_KEY', string>;
  /** Private keys of API key pairs: PKCS#8, DER, base64. */
  keys: {
    id: string;
    name: string;
    private_key: string;
    allow: string[];
    accounts: string[];
    active: boolean;
  }[];
  cards: { id: string; name: string; account: string; number: string | null; replacement: string | null }[];
  gift_cards: { id: string; number: string; pin: string }[];
  subscriptions: { id: string; path: string; secrets: string[]; callable: boolean }[];
  /** Cursors with the page that version 1.0.1 answered; `refused` where the changelog of 1.1 says so. */
  cursors: { path: string; account: string; cursor: string; ids: string[]; refused: boolean }[];
}

export const readFixture = async (): Promise<Fixture> =>
  JSON.parse(await readFile(join(fixtureFolder, 'fixture.json'), 'utf8')) as Fixture;

/** Creates a database from the dump, as if it had been made an hour ago. Returns its URL. */
export async function restoreFixture(receiver: string): Promise<string> {
  const { made_at: madeAt, receiver: oldReceiver } = await readFixture();
  const dump = gunzipSync(await readFile(join(fixtureFolder, 'dump.sql.gz'))).toString('utf8');
  const url = await createEmptyDatabase();
  const seconds = (Date.now() - Date.parse(madeAt)) / 1000 - 3600;
  await withClient(url, async (client) => {
    await client.query(dump.replaceAll(oldReceiver, receiver));
    await client.query(moveTimes(seconds));
  });
  return url;
}

/** A DATA_DIR as version 1.0.1 left it. */
export async function createUpgradeDataDir({ secrets, keys }: Fixture): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-upgrade-'));
  await writeFile(join(dataDir, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 });
  const sandbox = keys.find(({ name }) => name === 'Sandbox');
  const pem = keyOf(sandbox?.private_key).export({ type: 'pkcs8', format: 'pem' });
  await writeFile(join(dataDir, 'sandbox-key.pem'), pem, { mode: 0o600 });
  return dataDir;
}

export const keyOf = (text = '') =>
  createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });

// What has a date of expiry: otherwise the events and jobs of the dump would be deleted a month after it was made. Records
// keep `created_at`, because cursors contain it. Subscriptions must not look older than events from before they existed:
// `payments doctor` would miss the deliveries.
const moveTimes = (seconds: number) => `
  do $$
  declare found record;
  begin
    for found in
      select format('%I.%I', table_schema, table_name) as place, quote_ident(column_name) as name
      from information_schema.columns
      where data_type = 'timestamp with time zone' and is_generated = 'NEVER'
        and (table_schema = 'pgboss' and table_name in ('job', 'version', 'queue', 'archive')
          or table_schema = 'public' and (table_name in ('events', 'deliveries', 'delivery_attempts')
            or table_name = 'webhook_subscriptions' and column_name = 'updated_at'
            or column_name in ('old_secret_until', 'failing_since')))
    loop
      execute format('update %s set %s = %s + interval ''${seconds} seconds''', found.place, found.name, found.name);
    end loop;
  end $$;`;
