/** What an editor shows, asked of the TypeScript language service. */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import ts from 'typescript';

/** By the name in each mark of this file, such as `/*client*\/`: what an editor shows over the word that follows it. */
export function hovers(file: string, compilerOptions: ts.CompilerOptions): Record<string, string> {
  const text = readFileSync(file, 'utf8');
  const service = ts.createLanguageService({
    getCompilationSettings: () => compilerOptions,
    getCurrentDirectory: () => dirname(file),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const found = ts.sys.readFile(name);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    fileExists: (name) => ts.sys.fileExists(name),
    readFile: (name) => ts.sys.readFile(name),
    directoryExists: (name) => ts.sys.directoryExists(name),
  });
  const marks = [...text.matchAll(/\/\*(\w+)\*\//g)];
  return Object.fromEntries(
    marks.map(({ 0: mark, 1: name = '', index }) => {
      const info = service.getQuickInfoAtPosition(file, index + mark.length);
      return [name, ts.displayPartsToString(info?.displayParts)];
    }),
  );
}
