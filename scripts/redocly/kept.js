// Runs the Redocly CLI again and again in one process, for `npm run dev`: most of a run's time is spent on loading the CLI.
// The CLI has no API for that, but its main module runs the command of process.argv whenever it is imported, and at the end it
// registers what sets the exit code. scripts/support/redocly.ts sends a list of arguments and gets status and output.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers';
import { pathToFileURL } from 'node:url';

const folder = dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json'));
const main = pathToFileURL(join(folder, 'lib', 'index.js')).href;

let runs = 0;
let output = { stdout: '', stderr: '' };
for (const name of /** @type {const} */ (['stdout', 'stderr']))
  process[name].write = (chunk) => {
    output[name] += String(chunk);
    return true;
  };

/** @param {string[]} args */
async function run(args) {
  output = { stdout: '', stderr: '' };
  process.argv = [process.argv[0] ?? 'node', 'redocly', ...args];
  const status = await new Promise((resolve) => {
    process.exit = /** @type {typeof process.exit} */ ((code) => resolve(code ?? 0));
    const onListener = (event, listener) => {
      if (event !== 'beforeExit') return;
      process.off('newListener', onListener);
      setImmediate(() => {
        process.off('beforeExit', listener);
        listener();
      });
    };
    process.on('newListener', onListener);
    runs += 1;
    import(`${main}?run=${runs}`).catch((error) => {
      output.stderr += String(error);
      resolve(1);
    });
  });
  return { status, ...output };
}

process.on('message', (args) => {
  void run(args).then((result) => process.send?.(result));
});
