import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { shownAccountColumns } from './table.ts';

const selectAccounts = (db: Db) => db.selectFrom('merchant_accounts').select('id');

export const findFirstAccount = (db: Db) =>
  selectAccounts(db).orderBy('created_at').orderBy('id').limit(1).executeTakeFirst();

export const findAccount = (db: Db, id: string) => selectAccounts(db).where('id', '=', id).executeTakeFirst();

export const findAccounts = (db: Db, ids: readonly string[]) =>
  selectAccounts(db)
    .where(sql<boolean>`id = any(${ids as string[]})`)
    .execute();

export const listAccounts = (db: Db) =>
  db
    .selectFrom('merchant_accounts')
    .select(shownAccountColumns)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
