// The sealed keys of merchant accounts, in their rows, and that of the installation, which is a setting.
import { sql } from 'kysely';
import type { Db, Tx } from './database.ts';

/** Null before its first use. `account` is null for the key of the installation. */
export async function findSealedKey(db: Db, account: string | null): Promise<string | null> {
  const { rows } = await (
    account === null
      ? sql<{ sealed: string }>`select value as sealed from settings where name = ${settingName}`
      : sql<{
          sealed: string | null;
        }>`select key_sealed as sealed from merchant_accounts where id = ${account}`
  ).execute(db);
  return rows[0]?.sealed ?? null;
}

export const settingName = 'installation_key_sealed';

/** Does nothing if another process has stored one meanwhile: `instead` is the one that is replaced, null if there is none. */
export async function storeSealedKey(
  tx: Tx,
  account: string | null,
  { sealed, instead }: { sealed: string; instead: string | null },
): Promise<void> {
  await (
    account === null
      ? sql`
        insert into settings (name, value) values (${settingName}, ${sealed})
        on conflict (name) do update set value = excluded.value where settings.value = ${instead}`
      : sql`
        update merchant_accounts set key_sealed = ${sealed}
        where id = ${account} and key_sealed is not distinct from ${instead}`
  ).execute(tx);
}
