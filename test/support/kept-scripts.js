// Runs compiled scripts of a copy of the project again and again, for keepScripts in processes.ts. Redocly is kept too.
import { join } from 'node:path';

const folder = process.argv[2] ?? '';
const { keepRedocly } = await import(join(folder, 'scripts/support/redocly.js'));
keepRedocly();

let output = '';
for (const name of /** @type {const} */ (['stdout', 'stderr']))
  process[name].write = (chunk) => {
    output += String(chunk);
    return true;
  };

let runs = 0;
process.on('message', async ({ script, args }) => {
  output = '';
  process.argv = [process.execPath, script, ...args];
  runs += 1;
  // The unique query makes Node run the main module again; the modules that it imports stay loaded.
  await import(`${join(folder, script)}?run=${runs}`);
  process.send?.({ status: process.exitCode ?? 0, output });
});
