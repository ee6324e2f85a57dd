// An editor shows what a handler gets and returns as the contract has it: plain objects, with the statuses that it may return.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { operations, type OperationId } from '../../generated/operations.ts';
import { root } from '../support/processes.ts';

const ids = Object.keys(operations) as OperationId[];
// Below node_modules, so that packages are found from there.
const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'hovers-'));
const file = join(folder, 'hovers.ts');
const text = `import type { Handler, Input, Result } from '${root}/server/kit/contract/handler-types.ts';
${ids.map((id) => `declare const ${id}Input: Input<'${id}'>;\ndeclare const ${id}Result: Result<'${id}'>;`).join('\n')}
export const inHandler: Handler<'createPaymentMethod'> = (hovered) => Promise.reject(hovered);
`;
writeFileSync(file, text);
const editor = openEditor();
afterAll(() => {
  editor.dispose();
  rmSync(folder, { recursive: true });
});

const hover = (name: string): string =>
  ts.displayPartsToString(editor.getQuickInfoAtPosition(file, text.indexOf(name))?.displayParts);

function openEditor(): ts.LanguageService {
  const readFile = (name: string) => ts.sys.readFile(name);
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [file], include: [] }, ts.sys, root);
  return ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const content = readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
}

/** Names of types that tell how a type was made. */
const machinery = /\b(Plain|Omit|Pick|Filled|Required|Exclude|Parameters|Input|Result|Answer)\w*</;

describe('what an editor shows', () => {
  it.each(ids)('the input of %s: path, query and body', (id) => {
    const shown = hover(`${id}Input`);
    expect(shown).toMatch(/^const \w+: \{\n {4}path: [^]*\n {4}query: [^]*\n {4}body: /);
    expect(shown).not.toMatch(machinery);
  });

  it.each(ids)('the result of %s: its 2xx with the body, and no error', (id) => {
    const shown = hover(`${id}Result`);
    expect(shown).toMatch(/^const \w+: \{\n {4}status: 20\d;\n {4}body: \{\n/);
    expect(shown).not.toMatch(/status: [345]/);
    expect(shown).not.toMatch(machinery);
  });

  it('the parameter of a handler, whose type nobody wrote', () => {
    expect(hover('hovered')).toMatch(/^\(parameter\) hovered: \{[^]*body: \{[^]*number: string;/);
  });
});
