// The lint rules of this project: what a handler throws and how it states its types, that an action throws no error of the API,
// that a test must pass, and that imports are sorted and form no circle. One run of Oxlint over a folder of the project's shape, because starting it takes longer than all of its checks.
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

const thrown = (...codes: string[]) => codes.map((code) => `throw new ApiError('${code}', {});`).join('\n');
const api = "import { ApiError } from '../errors.ts';\n";
const inUnit = 'deps.inUnitOfWork(async (unit): Promise<number> => unit)';
const handler = (name: string) => `server/handlers/${name}.ts`;

const errors = {
  ...{ not_found: 404, duplicate_record: 409, too_early: 425, server_error: 500 },
  ...{ bad_gateway: 502, gateway_timeout: 504 },
};
const use = (response: string) => ({ $ref: `#/components/responses/${response}` });

/** Just what the rules read of a contract. */
const contract = {
  paths: {
    '/refunds': {
      get: {
        operationId: 'listRefunds',
        responses: { '404': use('NotFound'), '422': use('UnprocessableCursor'), '502': {}, '504': {} },
        'x-reserved': { '502': 'Nobody is asked.', '504': 'Nobody is asked.' },
      },
      post: {
        operationId: 'createRefund',
        responses: {
          '404': use('NotFoundRefund'),
          '409': use('Conflict'),
          '422': use('Unprocessable'),
          '500': {},
        },
      },
    },
    '/refunds/notes': {
      get: {
        operationId: 'listNotes',
        responses: { '404': use('NotFound'), '422': use('UnprocessableCursor') },
      },
    },
    '/refunds/checks': { post: { operationId: 'checkRefunds', responses: {} } },
  },
  components: {
    responses: {},
    examples: Object.fromEntries(
      Object.entries(errors).map(([code, status]) => [code, { value: { code, status } }]),
    ),
  },
};

const files: Record<string, string> = {
  'generated/openapi.json': JSON.stringify(contract),
  // Thrown in a function each, because what follows a throw is never reached.
  [handler('check-refunds')]: ['duplicate_record', 'not_found', 'unprocessable']
    .map((code, index) => `export function f${index}() { ${thrown(code)} }`)
    .join('\n'),
  [handler('list-refunds')]: "throw new ApiError(late ? 'gateway_timeout' : 'bad_gateway');",
  [handler('create-refund')]: ['not_found', 'duplicate_record', 'unprocessable', 'server_error']
    .map((code, index) => `export function f${index}() { ${thrown(code)} }`)
    .join('\n'),
  [handler('page')]: thrown('too_early'),
  [handler('untyped')]: 'export const untyped = (deps) => deps;',
  [handler('awaited')]:
    `export const f = async (deps): Promise<number> => {\n  const x = await ${inUnit};\n  return x;\n};`,
  [handler('unstated')]: 'export const f = (deps): unknown => deps.inUnitOfWork(async (unit) => unit);',
  [handler('plain')]: `export const f = (deps): Promise<number> => ${inUnit};`,
  // What types are needed for.
  'server/kit/http/floating.ts': 'export const f = (): void => { Promise.resolve(1); };\n',
  'server/kit/http/deprecated.ts':
    '/** @deprecated */\nconst field = 1;\nexport const answer = (): object => ({ field });\n',
  'server/kit/http/unsafe.ts': "export const f = (): string => JSON.parse('1').a;\n",
  'server/kit/http/unsorted.ts':
    "export { a } from './circle.ts';\nimport './circle.ts';\nimport 'node:fs';\n",
  'server/kit/http/circle.ts': "export const a = 1;\nexport type { B } from './unsorted.ts';\n",
  'server/kit/http/condition.ts':
    'export const f = (text: string): number => (text === undefined ? 1 : 2);\n',
  ...Object.fromEntries(
    ['resources', 'kit/database', 'kit/rules', 'kit/events', 'handlers', 'kit/http'].map((folder) => [
      `server/${folder}/refund-reasons.ts`,
      `${api}export const error: unknown = ApiError;\n`,
    ]),
  ),
};

/** What a file of tests has, and whether it is refused. */
const tests: [code: string, isRefused: boolean][] = [
  ["it.fails('x', () => undefined);", true],
  ["test.each([1]).fails('x', () => undefined);", true],
  ["it('x', { fails: true }, () => undefined);", true],
  ["it('x', { retry: 2 }, () => undefined);", true],
  ["it.each([1])('x', { 'retry': 2 }, () => undefined);", true],
  ["describe('x', { retry: { count: 2 } }, () => undefined);", true],
  ['vi.setConfig({ retry: 2 });', true],
  ["it.todo('x');", false],
  ["it('x', { timeout: 2 }, () => void createPaymentsClient({ retry: { tries: 1 } }));", false],
  ["it.each([{ retry: 2 }])('x', () => undefined);", false],
];
for (const [index, [code]] of tests.entries()) files[`test/unit/${index}.test.ts`] = code;
files['vitest.config.ts'] = 'export default defineConfig({ test: { retry: 1 } });';
files['test/process/scale/vitest.config.ts'] = files['vitest.config.ts'];

let found: { message: string; code: string; filename: string }[];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lint-rules-'));
  for (const part of ['.oxlintrc.json', 'tsconfig.json', 'scripts/oxlint'])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, code] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), code);
  }
  const linted = ['server', 'test', 'vitest.config.ts'];
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  const { output } = await run(process.execPath, [oxlint, ...linted, '--format=json'], { cwd: folder });
  found = (JSON.parse(output) as { diagnostics: typeof found }).diagnostics;
  await rm(folder, { recursive: true });
});

const messages = (file: string, rule: string) =>
  found
    .filter(({ filename, code }) => filename === file && code.includes(rule))
    .map(({ message }) => message);
const errorsOf = (name: string) => messages(handler(name), 'declared-errors');

it('says what to paste into the contract, and where; of several responses that which most operations have', () => {
  expect(errorsOf('check-refunds')).toEqual([
    `checkRefunds does not declare 409, the status of 'duplicate_record': the caller would get 500. Paste this below \
"responses" in openapi/paths/refunds_checks.yaml, then run npm run generate:
    '409':
      $ref: ../components/responses/Conflict.yaml`,
    expect.stringMatching(/NotFound\.yaml\nOr, if it fits better: NotFoundRefund\.$/),
    expect.stringMatching(/UnprocessableCursor\.yaml\nOr, if it fits better: Unprocessable\.$/),
  ]);
});

it('finds imports that are not sorted, and circles, also of types', () => {
  expect(messages('server/kit/http/unsorted.ts', 'sorted')).toEqual(['Sort the imports: npx oxlint --fix.']);
  expect(messages('server/kit/http/circle.ts', 'no-cycle')).toHaveLength(1);
});

it('finds a status that the contract says never happens, and both sides of a condition', () => {
  const advice = (status: number) =>
    `Remove ${status} below "x-reserved" in openapi/paths/refunds.yaml, then run npm run generate.`;
  expect(errorsOf('list-refunds')).toEqual([
    expect.stringContaining(advice(504)),
    expect.stringContaining(advice(502)),
  ]);
});

it('accepts what is declared, and leaves files alone that belong to no operation', () => {
  expect(errorsOf('create-refund')).toEqual([]);
  expect(errorsOf('page')).toEqual([]);
});

it.each([
  ['untyped', "State the return type of a handler: (input, deps): Promise<Result<'operationId'>> =>"],
  ['awaited', 'Return the unit of work: its answer was held against the contract before it was committed.'],
  ['unstated', "State what a unit of work answers: async (unit): Promise<Result<'operationId'>> =>"],
  ['plain', undefined],
])('a handler that is %s', (name, message) => {
  expect(messages(handler(name), 'stated-types')).toEqual(message === undefined ? [] : [message]);
});

it.each([
  ['floating', 'no-floating-promises'],
  ['unsafe', 'no-unsafe-member-access'],
  ['condition', 'no-unnecessary-condition'],
])('knows the types: %s', (name, rule) => {
  expect(messages(`server/kit/http/${name}.ts`, rule)).toHaveLength(1);
});

it.each([
  ['resources', 1],
  ['kit/database', 1],
  ['kit/rules', 1],
  ['kit/events', 1],
  ['handlers', 0],
  ['kit/http', 0],
])('a file of server/%s that imports ApiError has %i faults', (folder, faults) => {
  const said = found.filter(
    ({ filename, code }) =>
      filename === `server/${folder}/refund-reasons.ts` && code.includes('no-restricted-imports'),
  );
  expect(said).toHaveLength(faults);
  for (const fault of said)
    expect(JSON.stringify(fault)).toContain(
      "let the handler throw: if (done === 'closed') throw new ApiError('…')",
    );
});

it('accepts a field that the contract deprecates: the service sends it until the next major version', () => {
  expect(messages('server/kit/http/deprecated.ts', '')).toEqual([]);
});

it.each(tests)('a test that must pass: %s', (code, isRefused) => {
  const index = tests.findIndex(([one]) => one === code);
  const name = code.includes('fails') ? 'fails' : 'retry';
  expect(messages(`test/unit/${index}.test.ts`, 'must-pass')).toEqual(
    isRefused ? [`Fix what the test finds instead of \`${name}\`, or delete the test.`] : [],
  );
});

it.each(['vitest.config.ts', 'test/process/scale/vitest.config.ts'])('%s retries no test', (file) => {
  expect(messages(file, 'must-pass')).toHaveLength(1);
});
