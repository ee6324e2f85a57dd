// The settings of VS Code in .vscode/ name scripts and files that exist, and what they start does start.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
  it('recommends extensions by their IDs', () => {
    const { recommendations } = read('.vscode/extensions.json') as { recommendations: string[] };
    for (const id of recommendations) expect(id).toMatch(/^[a-z0-9-]+\.[a-z0-9-]+$/);
  });

  it('uses the TypeScript of the project', () => {
    const { 'typescript.tsdk': folder } = read('.vscode/settings.json') as Record<string, string>;
    expect(existsSync(join(root, folder ?? '', 'typescript.js'))).toBe(true);
  });

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
