// A bad contract is neither generated from nor served. What `npm run generate` writes is tested in changes.test.ts.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import { brokenProject, swap, type Edits, type Workspace } from '../support/contract-copy.ts';
import { run, runNode, type Ended } from '../support/processes.ts';

describe('a bad contract', () => {
  interface Fault {
    name: string;
    edits: Edits;
    /** File, line and rule of the fault. Warnings count as faults too. */
    says: RegExp;
  }
  const error = (file: string, rule: string) => new RegExp(`^openapi/${file}:\\d+:\\d+ ${rule}$`, 'm');
  const faults: Fault[] = [
    {
      name: 'an unresolved reference',
      edits: {
        'paths/transactions.yaml': swap(
          'schemas/TransactionCollection.yaml',
          'schemas/TransactionColection.yaml',
        ),
      },
      says: error('paths/transactions.yaml', 'no-unresolved-refs'),
    },
    {
      name: 'an invalid schema',
      edits: { 'components/schemas/Amount.yaml': swap('type: integer', 'type: integr') },
      says: error('components/schemas/Amount.yaml', 'struct'),
    },
    {
      name: 'an example that does not match',
      edits: { 'components/examples/ErrorUnauthorized.yaml': swap('status: 401', 'status: unauthorized') },
      says: error('components/examples/ErrorUnauthorized.yaml', 'no-invalid-media-type-examples'),
    },
  ];

  // One project with every fault, because starting Redocly takes most of the time.
  let made: Workspace;
  beforeAll(async () => {
    made = await brokenProject(Object.assign({}, ...faults.map(({ edits }) => edits)) as Edits);
    for (const part of ['server', 'client', 'generated', 'tsconfig.json'])
      await cp(join(root, part), join(made.folder, part), { recursive: true });
  });
  afterAll(() => made[Symbol.asyncDispose]());

  const expectNothingGenerated = async ({ status, output }: Ended): Promise<void> => {
    expect(status).toBe(1);
    for (const { says } of faults) expect(output).toMatch(says);
    expect(output).toContain('Nothing was generated');
    // Redocly's advice, which would hide the faults.
    expect(output).not.toContain('generate-ignore-file');
    const bundle = (project: string) => readFile(join(project, 'generated/openapi.json'), 'utf8');
    expect(await bundle(made.folder)).toBe(await bundle(root));
  };

  it('stops generate, naming file and line of each fault, and nothing is written', async () => {
    await expectNothingGenerated(await runNode('scripts/generate.ts', [], { cwd: made.folder }));
  });

  it('stops npm start in the same way', async () => {
    await expectNothingGenerated(await run('npm', ['start'], { cwd: made.folder, env: { PORT: '0' } }));
  });
});

describe('a bad bundle, as in a broken deployment', () => {
  let deployment: string;
  beforeAll(async () => {
    // Next to the compiled project, so that Node finds the packages from there.
    deployment = await mkdtemp(`${inject('compiled')}-`);
    await cp(inject('compiled'), deployment, { recursive: true });
  });
  afterAll(() => rm(deployment, { recursive: true, force: true }));

  const break_ = (text: string, from: string, to: string) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  };
  const cases: { name: string; edit: (text: string) => string; says: RegExp }[] = [
    {
      name: 'an unresolved reference',
      edit: (text) => break_(text, '#/components/schemas/CardDetails"', '#/components/schemas/CardDetailz"'),
      says: /CardDetailz does not resolve\n {2}at .*openapi\.json:\d+/,
    },
    {
      name: 'an invalid schema',
      edit: (text) => break_(text, '"minLength": 13', '"minLength": -13'),
      says: /schema is invalid .*minLength.*\n {2}at .*openapi\.json:\d+ \(#\/components\/schemas\/PaymentMethodCreate/,
    },
    {
      name: 'an example that does not match',
      edit: (text) => break_(text, '"code": "unauthorized"', '"code": "unauthorised"'),
      says: /example "unauthorized" does not match.*\n {2}at .*openapi\.json:\d+/,
    },
    { name: 'no JSON at all', edit: () => '{', says: /openapi\.json is not valid JSON/ },
  ];

  it.each(cases)('$name stops the server, naming file and line', async ({ edit, says }) => {
    const file = join(deployment, 'generated/openapi.json');
    await writeFile(file, edit(await readFile(join(root, 'generated/openapi.json'), 'utf8')));
    const main = join(deployment, 'server/main.js');
    const { status, output } = await run(process.execPath, [main], { env: { PORT: '0' } });
    const { reason } = JSON.parse(output) as { reason: string };
    expect(reason).toMatch(says);
    expect(output).not.toMatch(/at .*\.[jt]s:\d+/);
    expect(status).toBe(1);
  });
});
