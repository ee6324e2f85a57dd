// What the Dockerfile makes, without Docker: `npm run build` from the files that .dockerignore lets in, and the service run from
// the result with the variables of compose.yaml, by a user who cannot write there.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { secretNames } from '../../server/settings.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { interpolate, readCompose } from '../support/deployment.ts';
import { startLossyDatabase } from '../support/lost-commit.ts';
import { freePort } from '../support/ports.ts';
import { listening, root, run, startCommand } from '../support/processes.ts';

let folder: string;
let app: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-build-'));
  await chmod(folder, 0o755);
  const source = join(folder, 'source');
  app = join(folder, 'app');
  const allowed = readFileSync(join(root, '.dockerignore'), 'utf8').matchAll(/^!(.*)$/gm);
  // Nor what Git ignores there: CI builds from a clone.
  const filter = (path: string) => !/\/(node_modules|dist|generated\/validators\.js)$/.test(path);
  for (const [, name = ''] of allowed)
    await cp(join(root, name), join(source, name), { recursive: true, filter });
  await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
  const built = await run('npm', ['run', '--silent', 'build'], { cwd: source });
  expect(built.status, built.output).toBe(0);
  const archive = join(source, `payments-service-${contractVersion}.tgz`);
  await mkdir(app);
  await run('tar', ['-xzf', archive, '--strip-components=1', '-C', app]);
  await run('chmod', ['-R', 'a+rX,a-w', app]);
  // It compiles everything, and builds the docs.
}, 240_000);
afterAll(async () => {
  await run('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
});

/** The variables of compose.yaml, but with the database and a port of this machine. */
async function variables(databaseUrl: string): Promise<Record<string, string>> {
  const dotEnv: Record<string, string> = { PUBLIC_URL: 'https://payments.example' };
  for (const name of secretNames) dotEnv[name] = randomBytes(32).toString('base64');
  const { environment } = readCompose().services.payments;
  return {
    ...interpolate(environment, dotEnv),
    ENVIRONMENT: 'production',
    DATABASE_URL: databaseUrl,
    PORT: String(await freePort()),
  };
}

const user = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--no-new-privs'];
const start = (args: string[], env: Record<string, string> = {}) => {
  const [program = '', ...words] = [...(process.getuid?.() === 0 ? user : []), process.execPath, ...args];
  return startCommand(program, words, { cwd: app, env });
};
const runThere = async (args: string[], env: Record<string, string> = {}) => {
  const child = start(args, env);
  child.process.stdin.end();
  return child.ended;
};
const payments = join('bin', 'payments.js');
const healthCheck = () => {
  const [, words = '[]'] =
    /HEALTHCHECK [^[]*(\[.*\])/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  return (JSON.parse(words) as string[]).slice(1);
};

describe('the build', () => {
  it('has the build and the command, and neither packages, sources, tests nor keys', async () => {
    expect((await readdir(app)).sort()).toEqual([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'],
      ...['bin', 'dist', 'docs', 'openapi', 'package.json', 'testing'],
    ]);
    expect((await readdir(join(app, 'dist'))).sort()).toEqual([
      'THIRD-PARTY-LICENCES.txt',
      'chunks',
      'generated',
      'pages',
      'sbom.json',
      'server',
      'site',
    ]);
    const files = await readdir(app, { recursive: true });
    expect(
      files.filter((file) => /(?<!\.d)\.ts$|\.test\.|\.pem$|\.env$|node_modules|\.git/.test(file)),
    ).toEqual([]);
  });

  it('has the validators of its contract, which are not in Git', async () => {
    const file = async (name: string) => readFile(join(app, 'dist', name), 'utf8');
    const digest = createHash('sha256')
      .update(await file('generated/openapi.json'))
      .digest('hex');
    const programs = (await readdir(join(app, 'dist'), { recursive: true })).filter((one) =>
      one.endsWith('.js'),
    );
    const texts = await Promise.all(programs.map(file));
    expect(texts.filter((text) => text.includes(digest))).toHaveLength(1);
  });

  it('has the docs and pages with the same bytes as those that were built before, elsewhere', async () => {
    const files = async (folder: string) =>
      (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
        .sort();
    for (const part of ['site', 'pages']) {
      const [before, again] = [join(root, part), join(app, 'dist', part)];
      expect(await files(again)).toEqual(await files(before));
      const differ = (file: string) =>
        !readFileSync(join(again, file)).equals(readFileSync(join(before, file)));
      // Its bundle has names that depend on the place of node_modules: see mock-package.test.ts.
      expect((await files(again)).filter(differ).filter((file) => file !== 'mock.tgz')).toEqual([]);
    }
  });

  it('has the licences of what is bundled, also inside the scripts of the pages', async () => {
    const licences = await readFile(join(app, 'dist/THIRD-PARTY-LICENCES.txt'), 'utf8');
    for (const name of ['express ', 'vue@', '@codemirror/view@', 'react@', 'dompurify@'])
      expect(licences).toMatch(new RegExp(`^ *${name}\\d`, 'm'));
  });

  it('has the command `payments`', async () => {
    expect(await runThere([payments, '--version'])).toMatchObject({
      status: 0,
      stdout: `${contractVersion}\n`,
    });
  });

  it('starts, is healthy and ready, and stops on SIGTERM, with files that it cannot write', async () => {
    // By TCP, because the user of the image cannot enter the folder with the socket of the embedded database.
    await using database = await startLossyDatabase(await createEmptyDatabase());
    const env = { ...(await variables(database.url)), METRICS_PORT: String(await freePort()) };
    expect((await runThere(healthCheck(), env)).status).toBe(1);
    const service = start(['dist/server/main.js'], env);
    try {
      const url = await listening(service);
      for (const other of [{ METRICS_PORT: '' }, { PORT: '1' }])
        expect(await runThere(healthCheck(), { ...env, ...other })).toMatchObject({ status: 0, output: '' });
      const ready = await fetch(`${url}/readyz`);
      expect(ready.status, await ready.text()).toBe(200);
      const docs = await fetch(`${url}/docs/`);
      expect(docs.status).toBe(200);
      const created = await runThere([payments, 'accounts', 'create', 'default', '--name', 'Default'], env);
      expect(created.status, created.output).toBe(0);
      const written = await runThere(['-e', "fs.writeFileSync('dist/x', '')"], env);
      expect(written.stderr).toContain('EACCES');
      service.process.kill('SIGTERM');
      expect(await service.ended).toMatchObject({ status: 0, signal: null, stderr: '' });
    } finally {
      service.process.kill('SIGKILL');
    }
  });
});
