/** The compiler on some files, as a process: it checks the whole service in seconds. */
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { root, run } from './processes.ts';

export interface Fault {
  /** Absolute. */
  file: string;
  code: string;
  /** With the lines that explain it. */
  message: string;
}

/** TypeScript 7, and the last one that is written in JavaScript, which many consumers have. */
export type Compiler = '@typescript/native' | 'typescript';

/** The errors in these files and in what they import. `settings`: what a tsconfig.json may have. */
export async function compile(
  folder: string,
  files: string[],
  settings: object,
  by: Compiler = '@typescript/native',
): Promise<Fault[]> {
  const config = join(folder, `tsconfig.${process.pid}.json`);
  await writeFile(config, JSON.stringify({ ...settings, files, include: [] }));
  const compiler = join(root, 'node_modules', by, 'bin/tsc');
  // One thread, because tests run beside each other, and threads check some types twice.
  const threads = by === '@typescript/native' ? ['--singleThreaded'] : [];
  const args = [compiler, '-p', config, '--noEmit', '--pretty', 'false', ...threads];
  const { output } = await run(process.execPath, args, { cwd: folder });
  await rm(config);
  // A fault goes on in indented lines.
  return output
    .trim()
    .split(/\n(?=\S)/)
    .filter((text) => text !== '')
    .map((text) => {
      const [, file = '', code = '', message = ''] =
        /^(.+?)\(\d+,\d+\): error (TS\d+): (.*)$/s.exec(text) ?? [];
      if (file === '') throw new Error(text);
      return { file: resolve(folder, file), code, message };
    });
}
