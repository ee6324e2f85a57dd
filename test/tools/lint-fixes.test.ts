// What `npm run lint` advises about the format (the files that Prettier would change), and about what OpenAPI does not allow.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { prettierFix } from '../../scripts/lint/fixes.ts';
import { metaSchemaFaults } from '../../scripts/lint/meta-schema.ts';
import { explainPathParameters } from '../../scripts/lint/path-names.ts';
import { readSources } from '../../scripts/lint/sources.ts';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

const [clean, ugly, broken] = ['a: 1\n', 'a:    1\n', 'a: [\n'];

it.each([
  ['one', { 'a.yaml': clean, 'b_{id}.yaml': ugly }, "Run: npx prettier --write 'b_{id}.yaml'"],
  ['two', { 'a.yaml': ugly, 'b.yaml': ugly }, 'Run: npx prettier --write a.yaml b.yaml'],
  [
    'one, beside one that is broken',
    { 'a.yaml': ugly, 'b.yaml': broken },
    'Run: npx prettier --write a.yaml, and mend the syntax of the others named above.',
  ],
  ['none but one that is broken', { 'a.yaml': broken }, 'Mend the syntax of the files named above.'],
  [
    'many',
    Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}.yaml`, ugly])),
    'Run: npx prettier --write .',
  ],
])('names the files that are not formatted: %s', async (_count, files, advice) => {
  const folder = await mkdtemp(join(tmpdir(), 'lint-fixes-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const prettier = join(root, 'node_modules/prettier/bin/prettier.cjs');
  const { output } = await run(process.execPath, [prettier, '--check', '--log-level=warn', '.'], {
    cwd: folder,
  });
  expect(prettierFix(output)).toBe(advice);
  await rm(folder, { recursive: true });
});

const schema = 'schema: {type: string}\n';
const parameter = 'components/parameters/Id.yaml';

it.each([
  ['a parameter', parameter, `name: id\nin: path\nrequired: true\n${schema}`, []],
  [
    'a path parameter that is not required',
    parameter,
    `name: id\nin: path\n${schema}`,
    ['2: A path parameter needs `required: true`.'],
  ],
  [
    'a path parameter that need not be there',
    parameter,
    `name: id\nin: path\nrequired: false\n${schema}`,
    ['3: A path parameter needs `required: true`.'],
  ],
  [
    'a style of queries in a path',
    parameter,
    `name: id\nin: path\nrequired: true\nstyle: deepObject\n${schema}`,
    ['4: `style: deepObject` is not allowed here. Write matrix, label or simple.'],
  ],
  [
    'a keyword of queries in a header',
    parameter,
    `name: id\nin: header\nallowReserved: true\n${schema}`,
    ['3: `allowReserved` is not allowed here. Remove it.'],
  ],
  [
    'a style of queries in a header of a response',
    'components/responses/Ok.yaml',
    `description: x\nheaders:\n  X-Id:\n    style: form\n    ${schema}`,
    ['4: `style: form` is not allowed here. Write simple.'],
  ],
])('says what OpenAPI does not allow: %s', async (_what, file, text, messages) => {
  await using contract = await contractOf(file, text);
  const found = metaSchemaFaults(contract.sources);
  expect(found.map(({ line, message }) => `${line}: ${message}`)).toEqual(messages);
});

async function contractOf(file: string, text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'lint-fixes-'));
  const path = join(folder, 'openapi', file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return { sources: readSources(folder), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

it('says once, where the path is written, that a name in it is misspelt', async () => {
  await using contract = await contractOf(
    'openapi.yaml',
    'paths:\n  /refunds/{refund}:\n    $ref: ./paths/refunds_{refund_id}.yaml\n',
  );
  const problem = (message: string, pointer: string) => ({
    ...{ rule: 'path-parameters-defined', file: 'openapi/x.yaml', line: 9, column: 9, suggest: [] },
    ...{ message, pointer },
  });
  const found = explainPathParameters(
    [
      problem('Path parameter `refund_id` is not used in the path `/refunds/{refund}`.', '#/name'),
      problem(
        'The operation does not define the path parameter `{refund}` expected by path `/refunds/{refund}`.',
        '#/get/parameters',
      ),
      problem('Name the file after its path', '#/paths/~1refunds~1{refund}/$ref'),
    ],
    contract.sources,
  );
  expect(found).toMatchObject([
    {
      file: 'openapi/openapi.yaml',
      line: 2,
      message: 'The operations of this path have no parameter `refund`. Did you mean `{refund_id}`?',
    },
  ]);
});
