// `npm run dev`: watches everything. Edit openapi/ and the code and the docs are made anew; edit server/ and the server
// starts again.
import { spawn, type ChildProcess } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './support/redocly.ts';

const tsx = join(root, 'node_modules', '.bin', 'tsx');
const children = new Set<ChildProcess>();

function run(name: string, args: string[]): ChildProcess {
  const child = spawn(tsx, args, { cwd: root, stdio: 'inherit' });
  children.add(child);
  child.on('close', (status) => {
    children.delete(child);
    if (status !== 0 && status !== null)
      console.error(`${name} ended with ${status}; it starts again after the next change`);
  });
  return child;
}

if (process.argv.includes('--help')) {
  console.log(
    'Watch openapi/ and server/: generate, rebuild the docs and restart the server at every change.',
  );
} else {
  run('generate', ['scripts/generate.ts']).on('close', () => {
    run('server', ['watch', '--clear-screen=false', '--include', 'generated/**/*', 'server/main.ts']);
    run('docs', ['scripts/docs.ts', '--watch']);
  });
  // An editor saves in several steps; one run after the last of them is enough.
  let pending: NodeJS.Timeout | undefined;
  watch(join(root, 'openapi'), { recursive: true }, () => {
    clearTimeout(pending);
    pending = setTimeout(() => run('generate', ['scripts/generate.ts']), 200);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const child of children) child.kill(signal);
      process.exit();
    });
  }
}
