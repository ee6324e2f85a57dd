// The programs that check the code.
import { join } from 'node:path';
import { root } from '../support/root.ts';
import { runNode } from '../support/run-node.ts';

export async function tool(bin: string, args: string[]): Promise<{ ok: boolean; output: string }> {
  const { status, stdout, stderr } = await runNode([join(root, 'node_modules', bin), ...args]);
  return { ok: status === 0, output: `${stdout}${stderr}`.trim() };
}

const cache = join(root, 'node_modules', '.cache');

export const compiler = '@typescript/native/bin/tsc';

export const compile = (project: string, ...options: string[]) =>
  tool(compiler, ['--noEmit', '-p', project, ...options]);

/** Keeps what the next run can use in a file of the cache. */
export const incremental = (name: string) => [
  '--incremental',
  '--tsBuildInfoFile',
  `${cache}/tsc/${name}.tsbuildinfo`,
];
