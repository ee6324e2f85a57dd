/** Compile-time tests: code that must compile, and code that must not, with the expected error. */
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCompilerHost } from './compiler-host.ts';

export interface Piece {
  name: string;
  code: string;
  /** The expected compiler error; if left out, the code must compile. */
  fault?: RegExp;
}

const root = join(import.meta.dirname, '..', '..');
// The files exist only in memory, next to this file, so imports are relative to it.
const fileOf = (index: number) => join(import.meta.dirname, `types-piece-${index}.ts`);

/** `head` is put before every piece. One program for all pieces, because starting the compiler takes seconds. */
export function describeTypes(name: string, head: string, pieces: Piece[]): void {
  describe(name, () => {
    let faults: string[] = [];
    beforeAll(() => {
      faults = compile(pieces.map(({ code }) => head + code));
    });

    it.each(pieces.map((piece, index) => ({ ...piece, index })))('$name', ({ fault, index }) => {
      if (fault) expect(faults[index]).toMatch(fault);
      else expect(faults[index]).toBe('');
    });
  });
}

/** The errors of each text, as `tsc` prints them below the place. */
export function compile(texts: string[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = createCompilerHost(options);
  const sources = new Map(texts.map((text, index) => [fileOf(index), text]));
  const getSourceFile = host.getSourceFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.getSourceFile = (file, language, ...rest) => {
    const text = sources.get(file);
    return text === undefined
      ? getSourceFile(file, language, ...rest)
      : ts.createSourceFile(file, text, language);
  };
  const program = ts.createProgram([...sources.keys()], { ...options, noUnusedLocals: false }, host);
  return [...sources.keys()].map((file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map(({ code, messageText }) => `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
      .join('\n'),
  );
}
