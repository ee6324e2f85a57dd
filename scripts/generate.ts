// `npm run generate`: writes everything that is derived from openapi/.
import { styleText } from 'node:util';
import { generate } from './generate/generate.ts';
import { readOptions } from './support/options.ts';
import { root } from './support/root.ts';

const help = `Generate code from the contract in openapi/.

  npm run generate              write generated/, and a stub and a test for each operation that has none
  npm run generate -- --check   write nothing; fail if anything would change

Writes generated/openapi.json (the bundle), generated/types.ts, generated/operations.ts,
generated/validators.js (validators of all responses and events; not in Git), server/handlers/index.ts,
server/migrations/index.ts (the list of the files there), missing stubs in server/handlers/ and missing tests in
test/service/operations/. Existing handlers and tests are never overwritten.

Exit code: 0 if all is written or nothing would change, 1 if not, 2 for an unknown option.`;

const options = readOptions({ check: { type: 'boolean' } }, help);
const { ok, warnings, message } = await generate(root, options);
for (const warning of warnings) console.warn(`${styleText('yellow', '!')} ${warning}`);
if (ok) console.log(`${styleText('green', '✓')} ${message}`);
else {
  console.error(message);
  process.exitCode = 1;
}
