// The settings of VS Code in .vscode/ name scripts and files that exist, and what they start does start. Its schemas, with which
// editors complete, explain and check the files of openapi/, fit these files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { messagesOf } from '../../scripts/lint/report.ts';
import { root, run } from '../support/processes.ts';

interface Configuration {
  name: string;
  program: string;
  runtimeArgs?: string[];
}

interface Task {
  label: string;
  script?: string;
  command?: string;
  problemMatcher?: { pattern: { regexp: string }[] };
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { scripts } = read('package.json') as { scripts: Record<string, string> };
const { configurations } = read('.vscode/launch.json') as { configurations: Configuration[] };
const { tasks } = read('.vscode/tasks.json') as { tasks: Task[] };

describe('.vscode', () => {
  it.each(tasks)('the task "$label" runs a script that exists', ({ script, command = '' }) => {
    expect(Object.keys(scripts)).toContain(script ?? /^npm run -s (\S+)/.exec(command)?.[1]);
  });

  it('marks what the lint of the contract reports', () => {
    const { problemMatcher } = tasks.find(({ label }) => label === 'Contract') ?? {};
    const place = { rule: 'house/described', file: 'openapi/openapi.yaml', line: 1, column: 1 };
    const [message = ''] = messagesOf([{ ...place, message: 'Describe it.' }], root, false);
    const lines = message.split('\n');
    const found = problemMatcher?.pattern.map(({ regexp }, index) =>
      new RegExp(regexp).exec(lines[index] ?? '')?.slice(1),
    );
    expect(found).toEqual([['openapi/openapi.yaml', '1', '1', 'house/described'], [], [], ['Describe it.']]);
  });

  it('can debug the server, the mock, the command line and one test', () => {
    const programs = configurations.map(({ program }) => program.replace('${workspaceFolder}/', ''));
    expect(programs).toEqual([
      'server/main.ts',
      'mock/main.ts',
      'server/cli/main.ts',
      'node_modules/vitest/vitest.mjs',
    ]);
    for (const program of programs)
      expect([program, existsSync(join(root, program))]).toEqual([program, true]);
  });

  // The others run until they are stopped, and are started in the same way.
  it('starts the command line', async () => {
    const { program = '', runtimeArgs = [] } =
      configurations.find(({ name }) => name.startsWith('Command')) ?? {};
    const file = program.replace('${workspaceFolder}', root);
    const { status, output } = await run(process.execPath, [...runtimeArgs, file, '--help']);
    expect([status, output]).toEqual([0, expect.stringMatching(/usage/i)]);
  });
});

describe('the schemas for editors', () => {
  interface Definition {
    $ref?: string;
    description?: string;
    markdownDescription?: string;
    properties?: Record<string, Definition>;
  }
  type Definitions = Record<string, Definition>;
  const settings = read('.vscode/settings.json') as { 'yaml.schemas': Record<string, string | string[]> };
  const rows = Object.entries(settings['yaml.schemas']).flatMap(([schema, globs]) =>
    [globs].flat().map((glob) => ({ schema, glob })),
  );
  const all = readdirSync(join(root, 'openapi'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `openapi/${name}`);
  const filesOf = (glob: string) => {
    const pattern = new RegExp(`^${glob.replaceAll('.', '\\.').replace('*', '[^/]+')}$`);
    return all.filter((file) => pattern.test(file));
  };
  const shared = read('.vscode/schemas/openapi.json') as { definitions: Definitions };
  const { definitions } = shared;
  const ajv = new Ajv({ allErrors: true, strict: false }).addSchema(shared, 'openapi.json');

  it('are set for every file of openapi/, once', () => {
    expect(all.length).toBeGreaterThan(100);
    expect(rows.flatMap(({ glob }) => filesOf(glob)).sort()).toEqual([...all].sort());
  });

  it.each(rows)('$schema has nothing to say about $glob, but for a misspelt keyword', ({ schema, glob }) => {
    const isValid = ajv.compile(read(schema) as object);
    for (const file of filesOf(glob)) {
      const value = parse(readFileSync(join(root, file), 'utf8')) as object;
      expect([file, isValid(value), isValid.errors]).toEqual([file, true, null]);
      expect([file, isValid({ ...value, descripton: 'x' })]).toEqual([file, false]);
    }
  });

  it('explain every keyword', () => {
    const isExplained = ({ $ref, description, markdownDescription }: Definition) =>
      ($ref ?? description ?? markdownDescription) !== undefined;
    const silent = Object.entries(definitions).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([keyword, one]) => (isExplained(one) ? [] : `${name}.${keyword}`)),
    );
    expect(silent).toEqual([]);
  });

  const load = (file: string) =>
    JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')) as {
      $defs: Definitions;
      properties: object;
    };
  const known = (name: string) => Object.keys(definitions[name]?.properties ?? {});

  it('know every keyword of OpenAPI 3.1', () => {
    const folder = dirname(createRequire(import.meta.url).resolve('express-openapi-validator'));
    const { $defs, properties } = load(join(folder, 'framework', 'openapi.v3_1.modified.schema.json'));
    expect(known('document')).toEqual(expect.arrayContaining(Object.keys(properties)));
    for (const name of [
      ...['info', 'components', 'operation', 'parameter', 'request-body', 'media-type'],
      ...['encoding', 'response', 'example', 'header', 'tag', 'security-scheme'],
    ]) {
      const own = name.replace(/-(.)/, (_, letter: string) => letter.toUpperCase());
      const keywords = Object.keys($defs[name]?.properties ?? {});
      expect(keywords.length).toBeGreaterThan(1);
      expect([name, known(own)]).toEqual([name, expect.arrayContaining(keywords)]);
    }
  });

  it('know every keyword of JSON Schema', () => {
    for (const part of ['core', 'applicator', 'validation', 'unevaluated', 'meta-data', 'content']) {
      const { properties } = load(`ajv/dist/refs/json-schema-2020-12/meta/${part}.json`);
      expect([part, known('schema')]).toEqual([part, expect.arrayContaining(Object.keys(properties))]);
    }
  });
});
