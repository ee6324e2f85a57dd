// The audit trail: what operators did, with time, command and who ran it. An entry is written in the transaction of the
// change, so there is none without the other.
import { insertAuditEntry } from '../store/audit.ts';
import type { Work } from './unit-of-work.ts';

export interface Operation {
  operator: string;
  host: string;
  /** Arguments of a command hold no secrets: numbers, PINs and keys come on standard input or in files. */
  command: string;
}

export const noteOperation = async ({ db }: Work, operation: Operation): Promise<void> => {
  await insertAuditEntry(db, operation);
};
