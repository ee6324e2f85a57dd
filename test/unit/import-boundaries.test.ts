// Who may import whom, packages included. Every file of the project is in the table below; the file or folder with the
// longest matching name decides.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

interface Module {
  /** Modules whose values and types it may import. Its own files it may always import. */
  from: readonly string[];
  /** Modules of which it may import types only. */
  types?: readonly string[];
  packages?: readonly string[];
}

/** What every program of ours is made of. The kit itself is compiled alone (tsconfig.kit.json), so nothing in it knows payments. */
const kit = ['generated', 'client/json.ts', 'server/kit'];

const payments = ['commands', 'providers', 'resources', 'sandbox'].map((one) => `server/${one}`);

const modules: Record<string, Module> = {
  generated: { from: [] },
  'client/json.ts': { from: [] },
  'server/kit': { from: kit, packages: ['*'] },
  'server/providers': { from: [...kit, 'server/resources'] },
  'server/migrations': { from: kit, packages: ['kysely'] },
  'server/resources': {
    from: [...kit, 'server/providers'],
    packages: ['credit-card-type', 'express', 'kysely', 'pino', 'prom-client'],
  },
  // No database, no Express: what a handler needs comes with its call.
  'server/handlers': { from: [...kit, 'server/domain.ts', 'server/resources', 'server/providers'] },
  // What puts all together, and the commands that every API has. It knows payments by one file, and by the lists of handlers and
  // commands.
  server: {
    from: [
      ...kit,
      ...['server/domain.ts', 'server/handlers', 'server/commands/index.ts', 'client', 'testing/program'],
    ],
    packages: ['commander', 'express', 'kysely', 'ora', 'pino'],
  },
  'server/domain.ts': {
    from: [
      ...kit,
      ...['migrations', 'providers', 'resources', 'sandbox', 'serving.ts'].map((one) => `server/${one}`),
    ],
  },
  'server/serving.ts': { from: [...kit, ...payments], packages: ['express', 'pino'] },
  'server/sandbox': { from: [...kit, 'server/providers', 'server/resources'], packages: ['express'] },
  'server/commands/index.ts': { from: ['server/commands'] },
  'server/commands': { from: [...kit, 'server', ...payments], packages: ['commander', 'kysely'] },
  // Runs in the tests of others, in every test runner: no packages.
  testing: { from: ['client', 'generated', 'testing/remove-data.ts'] },
  'testing/remove-data.ts': { from: [] },
  // What that starts.
  'testing/program': {
    from: [...kit, 'server', 'server/providers', 'server/resources', 'testing/remove-data.ts'],
    packages: ['commander', 'pino'],
  },
  bin: { from: [] },
  '.ci': { from: [] },
  client: { from: ['generated', 'client/json.ts'], packages: ['openapi-fetch'] },
  mock: {
    from: [...kit, 'server/providers', 'server/resources'],
    types: ['server/handlers'],
    packages: ['@stoplight/prism-core', '@stoplight/prism-http', 'commander', 'express'],
  },
  scripts: {
    // `generate` proves the contract and compiles its validators with the code that uses them. Peers of the bench count numbers by the
    // statement of the service.
    from: [...kit, 'server/resources'],
    packages: [
      '@redocly/openapi-core',
      'ajv',
      // What `npm run bench` compares the service with is made of these.
      ...['ajv-formats', 'autocannon', 'express-openapi-validator', 'fastify', 'jsonwebtoken', 'pg'],
      'esbuild',
      'commander',
      'express',
      ...['@readme/httpsnippet', 'github-slugger', 'marked', 'minisearch', 'playwright-core', 'pluralize'],
      'openapi-typescript',
      'typescript',
      'prettier',
      'vitest',
      'yaml',
    ],
  },
  // The service, started in another way.
  'scripts/dev/service.ts': { from: [...kit, 'server', 'scripts'] },
  test: {
    from: [
      ...kit,
      ...['server', 'server/domain.ts', 'server/handlers', 'server/migrations', ...payments],
      ...['client', 'mock', 'scripts', 'testing', 'testing/program'],
      // Of vitest.config.ts.
      '.',
    ],
    packages: ['*'],
  },
  '.': { from: [], packages: ['vitest'] },
};

// What the mock must not reach, through whatever it imports: state, and the keys that guard it.
const closedToMock = [
  ...[
    'server/kit/database',
    'server/handlers',
    'server/kit/events',
    'server/open-secrets.ts',
    'server/kit/secrets/secrets-file.ts',
    'server/kit/secrets/vault.ts',
  ],
  ...[
    'server/kit/access/token.ts',
    'server/kit/access/bearer.ts',
    'server/sandbox',
    'server/kit/maintenance',
  ],
];
const isClosedToMock = (file: string) =>
  closedToMock.some((module) => isIn(file, module)) || /\/(queries|changes|any-account)\.ts$/.test(file);

// Queries are for reading, outside of their resource. Their writes have other names.
const readers = [
  'server/handlers',
  'server/kit/http',
  'server/cli',
  'server/commands',
  'server/sandbox',
  'server/kit/maintenance/jobs.ts',
];
const isRead = (name: string) => /^(find|list|count)[A-Z]/.test(name);
/** It changes no row: it only keeps others from erasing the buyer. */
const harmless = 'lockBuyer';

const readsEnvironment = [
  'scripts/bench/peers/peer.ts',
  'scripts/bench/subjects.ts',
  // The mock has its port in a variable of another name.
  'scripts/dev.ts',
  'scripts/diff.ts',
  // The level of the log.
  'scripts/docs/in-background.ts',
  // Only in the text of a sample.
  'scripts/docs/samples.ts',
  // They hand their own environment on to the programs that they start, or look there for what a test needs.
  ...['scripts/nightly.ts', 'scripts/nightly/needs.ts'],
  ...['scripts/pack-sandbox.ts', 'scripts/support/run-node.ts', 'scripts/support/sandbox.ts'],
  'server/config.ts',
  // It hands its environment on, too.
  'testing/child.ts',
];

/** The client reads answers as openapi-fetch does: our own parser would make every page larger. */
const parsesAnswers = 'client/client.ts';

/** They read files of the project, or what they have just written, where no caller chooses a key. */
const parsesOwnFiles = [
  'server/kit/contract/explain.ts',
  'server/kit/contract/load.ts',
  'server/kit/database/embedded/binaries.ts',
  'server/kit/http/package.ts',
  'server/kit/http/static.ts',
  'server/kit/log/terminal.ts',
  'server/kit/secrets/secrets-file.ts',
];

interface Import {
  /** A file of the project, or the name of a package. */
  target: string;
  isFile: boolean;
  /** What is there at run time; types are not. `*` for everything. */
  values: string[];
}

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(ts|js|mjs)$/.test(file) && existsSync(join(root, file)));

const importsByFile = new Map(tracked.map((file) => [file, importsOf(file)]));

function importsOf(file: string): Import[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (specifier: string, values: string[]) => {
    const isFile = specifier.startsWith('.');
    const packageName = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1);
    const target = isFile ? normalize(join(dirname(file), specifier)) : packageName.join('/');
    found.push({ target, isFile, values });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
      add(node.moduleSpecifier.text, valuesOf(node.importClause));
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
      add(node.moduleSpecifier.text, node.isTypeOnly ? [] : ['*']);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier && ts.isStringLiteral(specifier)) add(specifier.text, ['*']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function valuesOf(clause: ts.ImportClause | undefined): string[] {
  if (!clause) return ['*'];
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  const { name, namedBindings: named } = clause;
  const names = named && ts.isNamedImports(named) ? named.elements.filter((one) => !one.isTypeOnly) : [];
  return [
    ...(name ? ['default'] : []),
    ...(named && ts.isNamespaceImport(named) ? ['*'] : []),
    ...names.map((one) => (one.propertyName ?? one.name).text),
  ];
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Functions with a name, with all of their text. */
function functionsOf(file: string): { name: string; text: string }[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const found: { name: string; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (
      (ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node)) &&
      node.name &&
      ts.isIdentifier(node.name)
    )
      found.push({ name: node.name.text, text: node.getText(source) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isIn = (file: string, module: string) =>
  module === '.' ? !file.includes('/') : file === module || file.startsWith(`${module}/`);

const moduleOf = (file: string) =>
  Object.keys(modules)
    .filter((module) => isIn(file, module))
    .sort((a, b) => b.length - a.length)[0];

const isBuiltin = (name: string) => name.startsWith('node:') || builtinModules.includes(name);

function faultsOf(file: string): string[] {
  const module = moduleOf(file) ?? '';
  const { from, types = [], packages = [] } = modules[module] ?? { from: [] };
  return (importsByFile.get(file) ?? []).flatMap(({ target, isFile, values }) => {
    if (!isFile)
      return isBuiltin(target) || packages.includes('*') || packages.includes(target)
        ? []
        : [`${file} imports the package ${target}`];
    const other = moduleOf(target) ?? target;
    if (other === module || from.includes(other)) return [];
    if (types.includes(other)) return values.length === 0 ? [] : [`${file} imports values of ${target}`];
    return [`${file} imports ${target}`];
  });
}

describe('who may import whom', () => {
  it('every file is in a module, and every module has files', () => {
    expect(tracked.filter((file) => moduleOf(file) === undefined)).toEqual([]);
    const inhabited = new Set(tracked.map(moduleOf));
    expect(Object.keys(modules).filter((module) => !inhabited.has(module))).toEqual([]);
  });

  it('files import only from modules and packages that theirs may use', () => {
    expect(tracked.flatMap(faultsOf)).toEqual([]);
  });

  it('the mock reaches neither state nor keys, directly or through others', () => {
    const path = new Map<string, string>();
    const queue = tracked.filter((file) => isIn(file, 'mock'));
    for (const file of queue) path.set(file, file);
    for (const file of queue)
      for (const { target, isFile, values } of importsByFile.get(file) ?? []) {
        if (!isFile || values.length === 0 || path.has(target)) continue;
        path.set(target, `${path.get(file) ?? ''} → ${target}`);
        queue.push(target);
      }
    const reached = [...path].filter(([file]) => isClosedToMock(file));
    expect(reached.map(([, way]) => way)).toEqual([]);
    expect(path.size).toBeGreaterThan(40);
  });

  it('only changes change what is stored: others import nothing but reads from queries', () => {
    const writes = tracked
      .filter((file) => readers.some((module) => isIn(file, module)))
      .flatMap((file) =>
        (importsByFile.get(file) ?? [])
          .filter(({ target }) => /\/(queries|any-account)\.ts$/.test(target))
          .flatMap(({ target, values }) =>
            values
              .filter((name) => !isRead(name) && name !== harmless)
              .map((name) => `${file} imports ${name} of ${target}`),
          ),
      );
    expect(writes).toEqual([]);
  });

  it('handlers cannot read across merchant accounts: what does that is in files that they do not import', () => {
    const imports = tracked
      .filter((file) => isIn(file, 'server/handlers') || isIn(file, 'server/kit/http'))
      .flatMap((file) => (importsByFile.get(file) ?? []).map(({ target }) => `${file} imports ${target}`));
    expect(imports.filter((one) => /\/any-account\.ts$|\/across-accounts\.ts$/.test(one))).toEqual([]);
    const elsewhere = tracked
      .filter((file) => isIn(file, 'server') && !file.endsWith('/any-account.ts'))
      .flatMap((file) => functionsOf(file).map(({ name }) => ({ file, name })))
      .filter(({ name }) => name.endsWith('OfAnyAccount'));
    expect(elsewhere).toEqual([]);
  });

  it('what is named find, list or count writes nothing', () => {
    const writes =
      /\b(insert into|delete from|merge into)\b|\bupdate\s+[\w$.{}]+(\s+as\s+\w+)?\s+set\b|\.(insertInto|updateTable|deleteFrom)\(/i;
    const found = tracked
      .filter((file) => isIn(file, 'server'))
      .flatMap((file) =>
        functionsOf(file)
          .filter(({ name, text }) => /^(find|list|count)[A-Z]/.test(name) && writes.test(text))
          .map(({ name }) => `${file}: ${name}`),
      );
    expect(found).toEqual([]);
  });

  it('a resource never imports the changes of another: what both change is a change of the one that is called', () => {
    const resourceOf = (file: string) => /^server\/resources\/([^/]+)\//.exec(file)?.[1];
    const found = tracked
      // An erasure goes through all of them.
      .filter((file) => resourceOf(file) !== undefined && resourceOf(file) !== 'erasure')
      .flatMap((file) =>
        (importsByFile.get(file) ?? [])
          .filter(({ target, values }) => target.endsWith('/changes.ts') && values.length > 0)
          .filter(({ target }) => resourceOf(target) !== resourceOf(file))
          .map(({ target }) => `${file} imports ${target}`),
      );
    expect(found).toEqual([]);
  });

  it('SQL is in the database and below it', () => {
    const statement = /\bsql`|\.(selectFrom|insertInto|updateTable|deleteFrom|executeQuery)\(/;
    const own = [
      ...['access', 'database', 'events', 'idempotency', 'maintenance', 'migrations', 'secrets'].map(
        (module) => `server/kit/${module}`,
      ),
      ...['server/migrations', 'server/resources'],
    ];
    const outside = tracked.filter(
      (file) =>
        (isIn(file, 'server') || isIn(file, 'mock') || isIn(file, 'client')) &&
        !own.some((module) => isIn(file, module)) &&
        statement.test(read(file)),
    );
    expect(outside).toEqual([]);
  });

  // On Node 24 and 26 JSON.parse can read escaped keys wrongly; see docs/decisions/0012-json.md.
  it('JSON from outside and from the database is read by client/json.ts', () => {
    const found = tracked.filter(
      (file) =>
        ['server', 'mock', 'client'].some((module) => isIn(file, module)) && /JSON\.parse\b/.test(read(file)),
    );
    expect(found).toEqual([parsesAnswers, 'client/json.ts', ...parsesOwnFiles]);
  });

  it('what was typed is read in the two main.ts, and handed on', () => {
    const found = tracked.filter(
      (file) =>
        ['server', 'mock', 'client'].some((module) => isIn(file, module)) && /\bargv\b/.test(read(file)),
    );
    expect(found).toEqual(['server/cli/main.ts', 'server/main.ts']);
  });

  it('process.env is read in config.ts', () => {
    const found = tracked.filter((file) => !isIn(file, 'test') && /process\.env\b/.test(read(file)));
    expect(found).toEqual(readsEnvironment);
  });
});
