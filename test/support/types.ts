/** Compile-time tests: code that must compile, and code that must not, with the expected error. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compile } from './compiler.ts';
import { root } from './processes.ts';

export interface Piece {
  name: string;
  code: string;
  /** The expected compiler error; if left out, the code must compile. */
  fault?: RegExp;
}

/** `head` is put before every piece. One program for all pieces, because starting the compiler takes seconds. */
export function describeTypes(name: string, head: string, pieces: Piece[]): void {
  describe(name, () => {
    let faults: string[] = [];
    beforeAll(async () => {
      faults = await compileTexts(pieces.map(({ code }) => head + code));
    });

    it.each(pieces.map((piece, index) => ({ ...piece, index })))('$name', ({ fault, index }) => {
      if (fault) expect(faults[index]).toMatch(fault);
      else expect(faults[index]).toBe('');
    });
  });
}

/** The errors of each text, as `tsc` prints them below the place. */
async function compileTexts(texts: string[]): Promise<string[]> {
  // Below node_modules, so that packages are found from there; what the texts import is relative to this folder.
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  // The compiler names files by their real path, and node_modules may be a link.
  const folder = await realpath(await mkdtemp(join(cache, 'types-')));
  const files = texts.map((_, index) => join(folder, `piece-${index}.ts`));
  for (const [index, text] of texts.entries())
    await writeFile(files[index] ?? '', text.replaceAll(/'(?:\.\.\/)+/g, `'${root}/`));
  const options = { noUnusedLocals: false, rewriteRelativeImportExtensions: false };
  const faults = await compile(folder, files, {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: options,
  });
  await rm(folder, { recursive: true });
  return files.map((name) =>
    faults
      .filter(({ file }) => file === name)
      .map(({ code, message }) => `${code}: ${message}`)
      .join('\n'),
  );
}
