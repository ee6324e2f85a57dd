// `npm run generate`: writes everything that is derived from openapi/. A contract that fails the lint is not generated from.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { ContractFault } from '../server/contract/load.ts';
import { bundleContract } from './generate/bundle.ts';
import { contractDigest, digestFile } from './generate/digest.ts';
import { handlersIndex, orphans, stubs } from './generate/handlers.ts';
import { migrationsFile, migrationsIndex, newMigrations } from './generate/migrations.ts';
import { operationsModule } from './generate/operations.ts';
import { orphanTests, testStubs } from './generate/tests.ts';
import { typesModule } from './generate/types.ts';
import { typesOfValidators, validatorsModule } from './generate/validators.ts';
import { root } from './support/root.ts';

const help = `Generate code from the contract in openapi/.

  npm run generate              write generated/, and a stub and a test for each operation that has none
  npm run generate -- --check   write nothing; fail if anything would change

Writes generated/openapi.json (the bundle), generated/types.ts, generated/operations.ts,
generated/validators.js (validators of all responses and events), server/handlers/index.ts,
server/store/migrations/index.ts (the list of the files there), missing stubs in server/handlers/ and missing tests in
test/operations/. Existing handlers and tests are never overwritten.`;

const read = (file: string) => readFile(join(root, file), 'utf8').catch(() => undefined);

function refuse(fault: string): number {
  console.error(`${fault}\n\nNothing was generated. Fix the contract, then run: npm run generate`);
  return 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const bundled = await bundleContract();
  if ('fault' in bundled) return refuse(bundled.fault);
  const { contract } = bundled;
  const bundle = `${JSON.stringify(contract, null, 2)}\n`;
  const validators = await validatorsModule(bundle).catch((error: unknown) => {
    if (error instanceof ContractFault) return error;
    throw error;
  });
  if (validators instanceof Error) return refuse(validators.message);
  const files = new Map([
    ['generated/openapi.json', bundle],
    ['generated/validators.js', validators],
    ['generated/validators.d.ts', typesOfValidators],
    ['generated/types.ts', await typesModule(contract)],
    ['generated/operations.ts', operationsModule(contract)],
    [digestFile, `${await contractDigest()}\n`],
    ['server/handlers/index.ts', handlersIndex(contract)],
    [migrationsFile, await migrationsIndex()],
    ...(await stubs(contract)),
    ...(await testStubs(contract)),
  ]);
  const changed: string[] = [];
  for (const [file, content] of files) {
    if ((await read(file)) === content) continue;
    changed.push(file);
    if (values.check) continue;
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), content);
  }
  for (const file of [...(await orphans(contract)), ...(await orphanTests(contract))]) {
    console.warn(
      `${styleText('yellow', '!')} ${file} names no operation of the contract. Delete it, or rename it to match its operation.`,
    );
  }
  if (values.check && changed.length > 0) {
    console.error(
      `Out of date with openapi/:\n${changed.map((file) => `  ${file}\n`).join('')}Run: npm run generate`,
    );
    return 1;
  }
  const outcome =
    changed.length === 0 ? 'Generated code matches the contract' : `Wrote ${changed.join(', ')}`;
  console.log(`${styleText('green', '✓')} ${outcome}`);
  const migrations = values.check ? [] : await newMigrations();
  if (migrations.length > 0)
    console.log(
      `Not committed yet, and applied by the next npm start, payments command or test: ${migrations.join(', ')}`,
    );
  return 0;
}

process.exitCode = await main();
