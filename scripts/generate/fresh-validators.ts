// generated/validators.js is not in Git, because nobody can review compiled code. Whatever loads it makes it first, if it is missing
// or was made from something else.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadContract } from '../../server/kit/contract/load.ts';
import { filesIn, replaceFile } from '../support/files.ts';
import { root } from '../support/root.ts';
import { withoutProse } from './prose.ts';

export const validatorsFile = 'generated/validators.js';
const bundleFile = 'generated/openapi.json';

export const typesOfValidators = `// Written by \`npm run generate\`. Do not edit.
export interface ValidateFunction {
  (value: unknown): boolean;
  /** Of the last call. */
  errors?: { instancePath: string; keyword: string; message?: string; params?: object }[] | null;
}

/** SHA-256 of the openapi.json that the validators were compiled from. */
export const digest: string;
/** The formats by their names, as Ajv knows them. */
export function validators(formats: object): Record<string, ValidateFunction>;
`;

/** The code that makes them, with the packages that are installed. */
const makers = (project: string) => [
  'node_modules/.package-lock.json',
  'scripts/generate/validators.ts',
  ...filesIn(project, 'server/kit/contract').filter((file) => file.endsWith('.ts')),
];

/** All files that they depend on. */
export const sourcesOfValidators = (project: string) => [bundleFile, ...makers(project)];

/** Makes them unless they are there and fit. */
export async function makeValidators(project: string = root): Promise<void> {
  const { text } = loadContract(join(project, bundleFile));
  if (codeFor(project, text) !== undefined) return;
  replaceFile(join(project, validatorsFile), await validatorsOf(project, text));
}

/** `text` is that of the bundle. */
export async function validatorsOf(project: string, text: string): Promise<string> {
  // Imported here because it takes a while to load.
  const { compileValidators } = await import('./validators.ts');
  return withHead(project, text, await compileValidators(text));
}

/** Those that are there, if no more than prose has changed since: then there is nothing to prove and to compile. */
export function keptValidators(project: string, text: string): string | undefined {
  const before = read(project, bundleFile);
  const code = codeFor(project, before);
  if (code === undefined) return undefined;
  return before === text || withoutProse(before) === withoutProse(text)
    ? withHead(project, text, code)
    : undefined;
}

/** The code that is there, if it is whole and was made from this contract. */
function codeFor(project: string, text: string): string | undefined {
  const found = read(project, validatorsFile);
  const code = found.split('\n').slice(2).join('\n');
  return found === withHead(project, text, code) ? code : undefined;
}

/** Says what the code was made from. By digests, because Git does not keep the times of files, and a part of the code may be lost. */
function withHead(project: string, text: string, code: string): string {
  const made = digestOf(code, ...makers(project).flatMap((file) => [file, read(project, file)]));
  return `// Do not edit. Digest of this code and of the code that made it: ${made}\nexport const digest = '${digestOf(text)}';\n${code}`;
}

const digestOf = (...texts: string[]) => createHash('sha256').update(texts.join('\0')).digest('hex');

/** Empty if there is none. */
function read(project: string, file: string): string {
  try {
    return readFileSync(join(project, file), 'utf8');
  } catch {
    return '';
  }
}
