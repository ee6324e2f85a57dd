// Derives the generated files of a project from its contract. A contract that fails the lint is not generated from.
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContractFault } from '../../server/kit/contract/load.ts';
import { replaceFile } from '../support/files.ts';
import { answersModule } from './answers.ts';
import { bundleContract } from './bundle.ts';
import type { Contract } from './contract.ts';
import { contractDigest, digestFile } from './digest.ts';
import { keptValidators, typesOfValidators, validatorsFile, validatorsOf } from './fresh-validators.ts';
import { fileOf, handlers, handlersIndex, missingFiles, orphans, stub, tests } from './handlers.ts';
import { migrationsFile, migrationsIndex } from './migrations.ts';
import { operationsModule } from './operations.ts';
import { testOf } from './tests.ts';
import { typesModule } from './types.ts';

export interface Outcome {
  ok: boolean;
  /** Files that belong to no operation. */
  warnings: string[];
  message: string;
  /** The files that it changed. */
  written: string[];
  /** What is wrong with the contract, without advice. */
  fault?: string;
}

interface Options {
  /** Write nothing, and fail if anything would change. */
  check?: boolean | undefined;
  /** The contract, if it was linted and bundled before. */
  bundled?: { contract: Contract };
}

/** `project` is the folder of the project. */
export async function generate(project: string, options: Options = {}): Promise<Outcome> {
  const bundled = options.bundled ?? (await bundleContract(project));
  if ('fault' in bundled) return refuse(bundled.fault);
  const { contract } = bundled;
  const bundle = `${JSON.stringify(contract, null, 2)}\n`;
  let validators;
  try {
    validators = keptValidators(project, bundle) ?? (await validatorsOf(project, bundle));
  } catch (error) {
    if (error instanceof ContractFault) return refuse(error.message);
    throw error;
  }
  const stubs = await missingFiles(contract, project, handlers, ({ operation }) =>
    stub(operation.operationId),
  );
  const files = new Map([
    ['generated/openapi.json', bundle],
    // A check does not compare them: they are not in Git, and whatever loads them makes them.
    ...(options.check ? [] : ([[validatorsFile, validators]] as const)),
    ['generated/validators.d.ts', typesOfValidators],
    ['generated/types.ts', await typesModule(contract)],
    ['generated/answers.ts', await answersModule(contract)],
    ['generated/operations.ts', operationsModule(contract)],
    [digestFile, `${contractDigest(project)}\n`],
    ['server/handlers/index.ts', handlersIndex(contract)],
    [migrationsFile, await migrationsIndex(project)],
    ...stubs,
    ...(await missingFiles(contract, project, tests, ({ operation }) => {
      const isStub = stubs.some(([file]) => file === fileOf(handlers, operation.operationId));
      return testOf(contract, { operation, isStub });
    })),
  ]);
  const changed: string[] = [];
  for (const [file, content] of files) {
    const path = join(project, file);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === content) continue;
    changed.push(file);
    if (options.check) continue;
    await mkdir(dirname(path), { recursive: true });
    replaceFile(path, content);
  }
  const warnings = (await orphans(contract, project, [handlers, tests])).map(
    (file) => `${file} names no operation of the contract. Delete it, or rename it to match its operation.`,
  );
  if (options.check && changed.length > 0) {
    const message = `Out of date: ${changed.join(', ')}. Run: npm run generate`;
    return { ok: false, warnings, written: [], message };
  }
  const message =
    changed.length === 0 ? 'Generated code matches the contract' : `Wrote ${changed.join(', ')}`;
  return { ok: true, warnings, message, written: changed };
}

const refuse = (fault: string): Outcome => ({
  ok: false,
  warnings: [],
  written: [],
  fault,
  message: `${fault}\n\n${advice}`,
});

const advice = 'Nothing was generated. Fix the contract, then run: npm run generate';
