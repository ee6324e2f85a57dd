import { deleteEmptyAccount, insertAccount } from './queries.ts';
import type { Work } from '../../database/unit-of-work.ts';

/** Undefined when the ID is taken. */
export const createAccount = (
  { db }: Work,
  account: { id: string; display_name: string; created_at?: Date },
) => insertAccount(db, account);

/** False when something belongs to it. */
export const deleteAccount = ({ db }: Work, id: string): Promise<boolean> => deleteEmptyAccount(db, id);
