// `npm start`: runs the service. Its settings are variables.
import { commandsHere } from './kit/installation.ts';
import { run } from './run.ts';
import { settingsHelp } from './settings.ts';

// In a checkout: package.json says it, and whatever starts the service for itself does not.
const pack = '--pack';
const args = process.argv.slice(2).filter((arg) => arg !== pack);
const example = `PORT=9999 ${commandsHere().start}`;
if (args.includes('--help'))
  console.log(`Settings are variables, for example: ${example}\n${settingsHelp()}`);
else if (args.length > 0) {
  // Not repeated, because they may have secrets.
  console.error(
    `The service takes no arguments. Settings are variables, for example: ${example}\nAll of them: --help`,
  );
  process.exitCode = 2;
} else await run({ packs: process.argv.includes(pack) });
