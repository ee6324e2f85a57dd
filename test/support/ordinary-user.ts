/** PostgreSQL and PgBouncer refuse to run as root: as root they run as `nobody`, who then owns their folder. */
import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startCommand, type Child, type Env } from './processes.ts';

const nobody = 65_534;

/** The folder and everything in it must be readable for that user: call it after the last file is written. */
export function startAsOrdinaryUser(folder: string, command: string, args: string[], env: Env = {}): Child {
  if (process.getuid?.() !== 0) return startCommand(command, args, { env });
  chownSync(folder, nobody, nobody);
  for (const name of readdirSync(folder)) chownSync(join(folder, name), nobody, nobody);
  const user = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  return startCommand('setpriv', [...user, command, ...args], { env });
}
