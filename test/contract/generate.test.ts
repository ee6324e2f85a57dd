import { createPrivateKey, randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { root } from '../../scripts/support/redocly.ts';
import { signToken } from '../../server/domain/token.ts';
import { compileInto } from '../support/compile.ts';
import { brokenProject, type Edits, type Workspace } from '../support/contract-copy.ts';
import { newDataDir } from '../support/data-dir.ts';
import { run, runNode, startServer, type Ended } from '../support/processes.ts';

async function project(edits: Edits = {}): Promise<Workspace> {
  const made = await brokenProject(edits);
  for (const part of ['server', 'client', 'generated', 'tsconfig.json']) {
    await cp(join(root, part), join(made.folder, part), { recursive: true });
  }
  return made;
}

const generate = (folder: string, ...args: string[]) => runNode('scripts/generate.ts', args, { cwd: folder });

const replace = (from: string, to: string) => (text: string) => text.replace(from, to);

describe('npm run generate', () => {
  // A copy of the contract with one more operation, which has no handler yet.
  let made: Workspace;
  const operation = async () => {
    const model = await readFile(join(root, 'openapi/paths/card-scheme-definitions.yaml'), 'utf8');
    return model
      .replace('listCardSchemeDefinitions', 'getCardScheme')
      .replace('summary: List', 'summary: Get')
      .replace('  responses:\n', '    - $ref: ../components/parameters/CardSchemeId.yaml\n  responses:\n')
      .replace("    '405':\n", "    '404':\n      $ref: ../components/responses/NotFound.yaml\n    '405':\n");
  };
  const parameter = `name: card_scheme_id
in: path
required: true
description: The ID of the card scheme.
schema:
  type: string
  format: uuid
`;

  beforeAll(async () => {
    const path = await operation();
    made = await project({
      'openapi.yaml': replace(
        'webhooks:\n',
        '  /card-schemes/{card_scheme_id}:\n    $ref: ./paths/card-schemes_{card_scheme_id}.yaml\nwebhooks:\n',
      ),
      'paths/card-schemes_{card_scheme_id}.yaml': () => path,
      'components/parameters/CardSchemeId.yaml': () => parameter,
    });
    await writeFile(join(made.folder, 'server/handlers/list-unicorns.ts'), 'export {};\n');
  });
  afterAll(() => made[Symbol.asyncDispose]());

  it('--check writes nothing, names every file that is out of date and the command to run', async () => {
    const { status, output } = await generate(made.folder, '--check');
    expect(status).toBe(1);
    expect(output).toContain('generated/operations.ts');
    expect(output).toContain('server/handlers/get-card-scheme.ts');
    expect(output).toContain('Run: npm run generate');
    expect(await readdir(join(made.folder, 'server/handlers'))).not.toContain('get-card-scheme.ts');
  });

  it('writes a stub for the new operation, touches no existing handler, and reports the orphan', async () => {
    const existing = join(made.folder, 'server/handlers/list-transactions.ts');
    await writeFile(existing, `// mine\n${await readFile(existing, 'utf8')}`);
    const { status, output } = await generate(made.folder);
    expect(status, output).toBe(0);
    expect(output).toContain('server/handlers/list-unicorns.ts names no operation');
    expect(await readFile(existing, 'utf8')).toMatch(/^\/\/ mine\n/);
    expect(await readFile(join(made.folder, 'server/handlers/get-card-scheme.ts'), 'utf8')).toContain(
      "Handler<'getCardScheme', Deps>",
    );
    const again = await generate(made.folder, '--check');
    expect(again.output).toContain('Generated code matches the contract');
    expect(again.status).toBe(0);
  });

  it('makes a stub that compiles', async () => {
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    const use = `import type { Input } from '../../generated/operations.ts';
export const idOf = ({ path }: Input<'getCardScheme'>): string => path.card_scheme_id;
`;
    await writeFile(join(made.folder, 'server/handlers/use.ts'), use);
    const files = ['index', 'get-card-scheme', 'use'].map((name) => `server/handlers/${name}.ts`);
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--skipLibCheck',
      '--types',
      'node',
    ];
    const { status, output } = await run(tsc, [...flags, '--allowImportingTsExtensions', ...files], {
      cwd: made.folder,
    });
    expect(output).toBe('');
    expect(status).toBe(0);
  });

  it('and it can be called at once, with every check of the pipeline, that of its path included', async () => {
    await using dataDir = await newDataDir();
    await compileInto(made.folder, made.folder);
    const server = await startServer({ DATA_DIR: dataDir.path }, made.folder);
    try {
      const key = createPrivateKey(await readFile(join(dataDir.path, 'sandbox-key.pem')));
      const token = signToken(key, ['*.read'], 3600);
      const get = async (id: string, authorization = `Bearer ${token}`) => {
        const headers = { Authorization: authorization };
        const response = await fetch(`${server.url}/card-schemes/${id}`, { headers });
        const { details } = (await response.json()) as { details?: { message: string }[] };
        const told = details?.map(({ message: _message, ...rest }) => rest);
        return [response.status, told ?? response.headers.get('X-Contract-Example')];
      };
      const fault = (type: string) => [{ location: 'path', pointer: '/card_scheme_id', type }];
      expect(await get(randomUUID())).toEqual([200, expect.any(String)]);
      expect(await get('unicorn')).toEqual([400, fault('value_error.uuid')]);
      expect(await get('%zz')).toEqual([400, fault('value_error.url_encoding')]);
      expect(await get(randomUUID(), 'Bearer x')).toEqual([401, []]);
      expect((await get(`${randomUUID()}/more`))[0]).toBe(404);
    } finally {
      await server.kill();
    }
  });
});

describe('a bad contract', () => {
  interface Fault {
    name: string;
    edits: Edits;
    says: RegExp;
  }
  const cases: [Fault, ...Fault[]] = [
    {
      name: 'an unresolved reference',
      edits: {
        'paths/transactions.yaml': replace(
          'schemas/TransactionCollection.yaml',
          'schemas/TransactionColection.yaml',
        ),
      },
      says: /openapi\/paths\/transactions\.yaml:\d+/,
    },
    {
      name: 'an invalid schema',
      edits: { 'components/schemas/Amount.yaml': replace('type: integer', 'type: integr') },
      says: /openapi\/components\/schemas\/Amount\.yaml:\d+/,
    },
    {
      name: 'an example that does not match',
      edits: { 'components/examples/ErrorUnauthorized.yaml': replace('status: 401', 'status: unauthorized') },
      says: /openapi\/components\/examples\/ErrorUnauthorized\.yaml:\d+/,
    },
  ];

  const expectNothingGenerated = async (
    folder: string,
    { status, output }: Ended,
    says: RegExp,
  ): Promise<void> => {
    expect(status).toBe(1);
    expect(output).toMatch(says);
    expect(output).toContain('Nothing was generated');
    const bundle = (project: string) => readFile(join(project, 'generated/openapi.json'), 'utf8');
    expect(await bundle(folder)).toBe(await bundle(root));
  };

  it.each(cases)('$name stops generate, naming file and line, and nothing is written', async (fault) => {
    await using made = await project(fault.edits);
    await expectNothingGenerated(made.folder, await generate(made.folder), fault.says);
  });

  // `npm start` runs generate and stops if that fails, so one fault is enough here.
  it('stops npm start in the same way', async () => {
    const [fault] = cases;
    await using made = await project(fault.edits);
    const started = await run('npm', ['start'], { cwd: made.folder, env: { PORT: '0' } });
    await expectNothingGenerated(made.folder, started, fault.says);
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
    expect(output).toMatch(says);
    expect(output).not.toMatch(/at .*\.[jt]s:\d+/);
    expect(status).toBe(1);
  });
});
