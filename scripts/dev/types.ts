// Checks the types after an update, with the compiler of `npm run lint -- --types`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compiler, incremental } from '../lint/tool.ts';
import { root } from '../support/root.ts';

const mostShown = 5;

export function createTypeCheck() {
  let end: () => void = () => undefined;
  return {
    /** Returns the first errors, with file and line, or '' if there are none. */
    async run(): Promise<string> {
      const file = join(root, 'node_modules', compiler);
      const args = [file, '--noEmit', '-p', root, ...incremental('dev')];
      // In a process group of its own, because on Node 20 this process starts another one, which must end with it.
      const child = spawn(process.execPath, args, { cwd: root, detached: true });
      end = () => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
      };
      const closed = once(child, 'close') as Promise<[number | null]>;
      const [[status], ...output] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
      if (status === 0) return '';
      return firstOf(output.join('')) || `The compiler ended with code ${status}.`;
    },
    /** For a check whose result nobody needs any more. */
    end: () => {
      end();
    },
  };
}

function firstOf(output: string): string {
  // The lines of an error after its first one are indented.
  const errors = output
    .trim()
    .split(/\n(?=\S)/)
    .map((error) => error.replace(/^(.+?)\((\d+),(\d+)\): /, '$1:$2:$3 '));
  const others = errors.length - mostShown;
  return [
    ...errors.slice(0, mostShown),
    ...(others > 0 ? [`and ${others} more: npm run lint -- --types`] : []),
  ].join('\n');
}
