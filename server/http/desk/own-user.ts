// Whether the program at the other end of a loopback connection runs as our user, or as root. Any user of the machine can send the
// headers of a browser, but not from a connection of somebody else. Only Linux says whose a connection is; elsewhere every local
// program is taken for our user's.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const known = new WeakMap<Socket, boolean>();

export function isOfOwnUser(socket: Socket): boolean {
  const isOwn = known.get(socket) ?? look(socket);
  known.set(socket, isOwn);
  return isOwn;
}

function look({ remoteAddress, remotePort, localAddress, localPort }: Socket): boolean {
  if (process.platform !== 'linux') return true;
  // Seen from there, our end is the remote one.
  const [from, to] = [namesOf(remoteAddress, remotePort), namesOf(localAddress, localPort)];
  for (const line of ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(linesOf)) {
    const [, local = '', remote = '', state = '', , , , user] = line.trim().split(/\s+/);
    // One that is closed at the other end belongs to nobody, which the table writes as root.
    if (from.includes(local) && to.includes(remote) && openStates.includes(state))
      return Number(user) === process.getuid?.() || user === '0';
  }
  return false;
}

/** Established, and closed at our end only. */
const openStates = ['01', '08'];

/** A machine without IPv6 has one of the two. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** How the tables of the kernel write an address: 32-bit words in the byte order of the machine, which is little-endian here. */
function namesOf(address = '', port = 0): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (address === '::1') return [`00000000000000000000000001000000${suffix}`];
  const bytes = address
    .replace(/^::ffff:/, '')
    .split('.')
    .map(Number);
  const word = Buffer.from(bytes.reverse()).toString('hex').toUpperCase();
  // A program may use an IPv6 socket for an IPv4 address.
  return [`${word}${suffix}`, `0000000000000000FFFF0000${word}${suffix}`];
}
