// The names of user and database, and the password, which is saved in DATA_DIR.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readPrivate, writePrivate } from '../private-files.ts';
import type { Place } from './placement.ts';

export const user = 'payments';
export const database = 'payments';

const passwordFile = (place: Place): string => join(place.root, 'postgres-password');

export const readPassword = (place: Place): string | undefined => readPrivate(passwordFile(place))?.trim();

export function createPassword(place: Place): string {
  const password = randomBytes(24).toString('base64url');
  writePrivate(passwordFile(place), `${password}\n`);
  return password;
}

export function missingPassword(place: Place): Error {
  return new Error(
    `${passwordFile(place)} is missing, and the database in ${place.directory} cannot be opened without it: ` +
      'restore it, or remove both to start with an empty database.',
  );
}
