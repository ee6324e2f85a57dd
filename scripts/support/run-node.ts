import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { root } from './root.ts';

/** Runs a program with Node in the project, to its end. */
export async function runNode(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [[status], stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { status: status ?? 1, stdout, stderr };
}
