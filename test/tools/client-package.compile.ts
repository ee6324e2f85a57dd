/** Compiles code of consumers. */
import { basename, dirname } from 'node:path';
import { compile, type Compiler } from '../support/compiler.ts';

/** The errors in these files and in all declarations of the package, as `file.ts: message`. */
export async function faultsIn(files: string[], given: object, by?: Compiler): Promise<string[]> {
  const compilerOptions = {
    ...{ strict: true, target: 'es2023', module: 'esnext', moduleResolution: 'bundler' },
    ...given,
  };
  const faults = await compile(dirname(files[0] ?? ''), files, { compilerOptions }, by);
  return files
    .flatMap((name) => faults.filter(({ file }) => file === name))
    .concat(faults.filter(({ file }) => file.includes('/payments-service-client/')))
    .map(({ file, message }) => `${basename(file)}: ${message.replace(/\n\s*/g, ' ')}`);
}
