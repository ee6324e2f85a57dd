// Runs the Redocly CLI without telemetry, update notice and progress, and without its warning about Node 20, which we support.
// It is for what Redocly's library cannot do: diff, build-docs and respect.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runNode } from './run-node.ts';

const cli = join(
  dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
  'bin',
  'cli.js',
);

export async function redocly(args: string[], colour = false) {
  // Redocly ends before V8's optimizing compiler pays off; without that, it takes a third less CPU time.
  const { status, stdout, stderr } = await runNode(['--no-opt', cli, ...args], {
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    ...(colour ? { FORCE_COLOR: '1' } : { NO_COLOR: '1', FORCE_COLOR: '0' }),
  });
  return { status, stdout, stderr: stderr.replace(/\s*╔[^╝]*Node\.js 20[^╝]*╝\n*/u, '') };
}
