// What is saved between starts: the password, and the port, so that connection pools of other processes can
// reconnect after a restart.
import { randomBytes, randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { readPrivate, writePrivate } from '../private-files.ts';
import type { Place } from './placement.ts';

export const user = 'payments';
export const database = 'payments';

const passwordFile = (place: Place): string => join(place.root, 'postgres-password');
const portFile = (place: Place): string => join(place.directory, 'port');

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

export function urlOf(port: number, password: string, name: string = database): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => {
        resolve(false);
      })
      .listen({ port, host: '127.0.0.1', exclusive: true }, () => {
        probe.close(() => {
          resolve(true);
        });
      });
  });
}

/**
 * A free port below the ephemeral range: an outgoing connection could take an ephemeral port while the database is
 * down, and the database could not start on it again.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await isFree(port)) return port;
  }
}

const savedPort = (place: Place): number => Number(readPrivate(portFile(place)) ?? '');

/** The port of the last start if it is free, otherwise a new one. Save it only after PostgreSQL has started on it. */
export async function choosePort(place: Place, needsNewPort: boolean): Promise<number> {
  const saved = savedPort(place);
  return !needsNewPort && saved > 0 && (await isFree(saved)) ? saved : freePort();
}

export function savePort(place: Place, port: number): void {
  if (savedPort(place) !== port) writePrivate(portFile(place), `${port}\n`);
}
