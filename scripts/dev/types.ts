// The compiler beside `npm run dev`: a contract without problems may still ask for something that the code does not give yet. It
// runs when everything is served, and with low priority, because it takes longer than all the rest.
import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../support/root.ts';

const shown = 8;
const lineWidth = 160;

export interface TypeCheck {
  /** Ends the run before, and says what it finds. */
  start: (say: (found: string) => void) => void;
  stop: () => void;
  /** For people: the verdict. After `stop`, and while the next run is under way, the last one is marked as old. */
  state: () => string;
}

/** `project`: the folder with the tsconfig.json. */
export function createTypeCheck(project = root): TypeCheck {
  let running: ChildProcess | undefined;
  let verdict: string | undefined;
  let isCurrent = false;
  const stop = () => {
    running?.kill();
    running = undefined;
    isCurrent = false;
  };
  return {
    stop,
    state() {
      if (verdict !== undefined && isCurrent) return verdict;
      const before = verdict === undefined ? '' : ` (before this save: ${verdict.split(/[;\n]/, 1)[0]})`;
      return `${running ? 'checking …' : 'checked when all is served'}${before}`;
    },
    start(say) {
      stop();
      // The same cache as that of `npm run lint`.
      const cache = join(project, 'node_modules', '.cache', 'tsc', 'lint.tsbuildinfo');
      const compiler = join(root, 'node_modules/@typescript/native/bin/tsc');
      const args = ['--noEmit', '-p', project, '--incremental', '--tsBuildInfoFile', cache];
      const child = spawn(process.execPath, [compiler, ...args], {
        cwd: project,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      running = child;
      if (child.pid !== undefined) setPriority(child.pid, 10);
      void text(child.stdout).then((output) => {
        if (running !== child) return;
        verdict = describeTypes(output);
        isCurrent = true;
        say(verdict);
      });
    },
  };
}

export const noTypeCheck: TypeCheck = {
  start: () => undefined,
  stop: () => undefined,
  state: () => 'not checked',
};

/** The first errors as the compiler prints them, a line each. The indented lines below an error are left to the lint. */
export function describeTypes(output: string): string {
  const errors = output.split('\n').filter((line) => /^\S/.test(line));
  if (errors.length === 0) return 'the code compiles';
  const lines = errors.slice(0, shown).map((line) => line.slice(0, lineWidth));
  const more = errors.length > shown ? [`… and ${errors.length - shown} more`] : [];
  return ['the code does not compile; npm run lint -- --types', ...lines, ...more].join('\n');
}
