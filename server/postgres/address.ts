// How PostgreSQL is reached: by a socket in its own folder, which only its owner and root can open. A port on the loopback
// address is the fallback. Both stay the same between starts, so that connection pools of other processes can reconnect.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { readPrivate, writePrivate } from '../private-files.ts';
import type { Place } from './placement.ts';
import { database, user } from './settings.ts';

/** A socket has a folder instead of a port. */
export type Address = { socket: string } | { port: number };

/** Part of the name of a socket; clients use this number unless they are told another. */
export const socketPort = 5432;

/** The limit is 103 bytes on macOS and 107 on Linux. */
const longestSocketPath = 100;

/** Undefined where a socket cannot be used. A comma or quote would make a list of several folders of it. */
export function socketAddress({ directory }: Pick<Place, 'directory'>): Address | undefined {
  const path = join(directory, `.s.PGSQL.${socketPort}`);
  if (process.platform === 'win32' || Buffer.byteLength(path) > longestSocketPath) return undefined;
  return /^[^,"\p{Cc}]*[^,"\p{Cc}\s]$/u.test(directory) ? { socket: directory } : undefined;
}

/** For psql, `pg` and DATABASE_URL. The port is named, because PGPORT in the environment would replace it otherwise. */
export function urlOf(address: Address, password: string, name: string = database): string {
  const credentials = `${user}:${password}`;
  if ('port' in address) return `postgres://${credentials}@127.0.0.1:${address.port}/${name}`;
  const folder = encodeURIComponent(address.socket).replaceAll('%2F', '/');
  return `postgres://${credentials}@localhost/${name}?host=${folder}&port=${socketPort}`;
}

const portFile = (place: Place): string => join(place.directory, 'port');

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
