// `npm run dev`: a change in openapi/ regenerates code and docs; a change in server/ or generated/ restarts the server.
import { spawn, type ChildProcess } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './support/root.ts';

const tsx = join(root, 'node_modules', '.bin', 'tsx');
const children = new Set<ChildProcess>();

function run(name: string, args: string[]): ChildProcess {
  const child = spawn(tsx, args, { cwd: root, stdio: 'inherit' });
  children.add(child);
  child.on('close', (status) => {
    children.delete(child);
    if (status !== 0 && status !== null)
      console.error(`${name} exited with code ${status}; the next change runs it again`);
  });
  return child;
}

if (process.argv.includes('--help')) {
  console.log('Watch openapi/ and server/. On every change: generate, rebuild the docs, restart the server.');
} else {
  run('generate', ['scripts/generate.ts']).on('close', () => {
    run('server', ['watch', '--clear-screen=false', '--include', 'generated/**/*', 'server/main.ts']);
    run('docs', ['scripts/docs.ts', '--watch']);
  });
  // Debounce: editors save a file in several steps.
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
