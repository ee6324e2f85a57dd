// What is saved between starts: the password, and the port, so that connection pools of other processes can
// reconnect after a restart.
import { randomBytes, randomInt } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Place } from './placement.ts';
import { hasCode } from './process.ts';

export const user = 'payments';
export const database = 'payments';

const passwordFile = (place: Place): string => join(place.root, 'postgres-password');
const portFile = (place: Place): string => join(place.directory, 'port');

/** Writes a file atomically. It gets the owner of its folder, also when root writes it. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  const folder = await stat(dirname(path));
  if (folder.uid !== process.getuid?.()) await chown(draft, folder.uid, folder.gid);
  await rename(draft, path);
}

export async function readPassword(place: Place): Promise<string | undefined> {
  try {
    return (await readFile(passwordFile(place), 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export async function createPassword(place: Place): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await writePrivate(passwordFile(place), `${password}\n`);
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

async function savedPort(place: Place): Promise<number> {
  return Number(await readFile(portFile(place), 'utf8').catch(() => ''));
}

/** The port of the last start if it is free, otherwise a new one. Save it only after PostgreSQL has started on it. */
export async function choosePort(place: Place, needsNewPort: boolean): Promise<number> {
  const saved = await savedPort(place);
  return !needsNewPort && saved > 0 && (await isFree(saved)) ? saved : freePort();
}

export async function savePort(place: Place, port: number): Promise<void> {
  if ((await savedPort(place)) !== port) await writePrivate(portFile(place), `${port}\n`);
}
