// The wall around server/kit, in a small project.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compileKit } from '../../scripts/lint/kit.ts';

const own = {
  'server/kit/rules.ts': 'export const least = 1;',
  'client/json.ts': 'export const parse = JSON.parse;',
};

async function compiled(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'kit-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const compilerOptions = {
    module: 'nodenext',
    noEmit: true,
    allowImportingTsExtensions: true,
    strict: true,
    types: [],
  };
  const all = {
    'tsconfig.kit.json': JSON.stringify({ compilerOptions, include: ['server/kit'] }),
    ...own,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return compileKit(folder);
}

it('the kit may import itself and client/json.ts', async () => {
  const text =
    "import { parse } from '../../client/json.ts'; import { least } from './rules.ts'; export const both = [parse, least];";
  expect(await compiled({ 'server/kit/both.ts': text })).toEqual({ ok: true, output: '' });
});

it('a file of payments, and what it imports, is named', async () => {
  const { ok, output } = await compiled({
    'server/kit/buyers.ts': "import { find } from '../resources/buyers.ts'; export const one = find;",
    'server/resources/buyers.ts': "import { name } from './names.ts'; export const find = name;",
    'server/resources/names.ts': "export const name = 'x';",
  });
  expect(ok).toBe(false);
  for (const file of ['buyers', 'names'])
    expect(output).toContain(
      `server/kit imports server/resources/${file}.ts, which is not part of the kit: hand it in, or move it there.`,
    );
});

it('so is what only payments declare, and what does not compile', async () => {
  const { ok, output } = await compiled({ 'server/kit/wrong.ts': 'export const many: number = least;' });
  expect(ok).toBe(false);
  expect(output).toMatch(/server\/kit\/wrong\.ts.*Cannot find name 'least'/);
});
