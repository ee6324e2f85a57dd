// `payments` as an installed command: the program that package.json names.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { packService } from '../../scripts/packages.ts';
import { writeRevision } from '../../scripts/support/revision.ts';
import { commandsHere, readBuild } from '../../server/kit/installation.ts';
import { createMetrics } from '../../server/kit/maintenance/metrics.ts';
import { root, run } from '../support/processes.ts';

vi.setConfig({ testTimeout: 120_000 });

const scratch = mkdtempSync(join(tmpdir(), 'payments-command-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

describe('npx payments', () => {
  const clone = join(scratch, 'clone');
  const { name, version, type, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const npx = (...args: string[]) =>
    run('npx', ['--offline', 'payments', ...args], {
      cwd: clone,
      env: { npm_config_cache: join(scratch, 'cache') },
    });
  beforeAll(() => {
    mkdirSync(clone);
    cpSync(join(root, 'bin'), join(clone, 'bin'), { recursive: true });
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ name, version, type, bin }));
  });

  it('says before the build what to do, where it can be built', async () => {
    const { status, stdout, stderr } = await npx('--version');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('This installation has no dist/. Make it again as docs/guides/operator.md says');
    mkdirSync(join(clone, 'scripts'));
    expect((await npx('--version')).stderr).toContain('payments is not built yet. Run: npm run build');
  });

  it('runs the compiled command line after the build', async () => {
    symlinkSync(inject('compiled'), join(clone, 'dist'));
    const wrong = await npx('token', '--ttl', '1');
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain("required option '--scopes <scopes>' not specified");
  });
});

describe('the commit of a build', () => {
  const clone = join(scratch, 'with-git');
  const built = join(clone, 'dist');
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: clone });
  const version = async () =>
    (await run(process.execPath, [join(built, 'server/cli/main.js'), '--version'])).stdout;

  it('is told after the version, by the command and in metrics', async () => {
    cpSync(inject('compiled'), built, { recursive: true });
    expect((await git('init', '--quiet')).status).toBe(0);
    // Without a commit there is none to tell.
    writeRevision(clone, built);
    expect(await version()).toBe(`${contractVersion}\n`);
    writeFileSync(join(clone, '.gitignore'), 'dist/\n');
    await git('add', '.');
    expect((await git('commit', '--quiet', '-m', 'first')).status).toBe(0);
    const revision = (await git('rev-parse', 'HEAD')).stdout.slice(0, 12);
    writeRevision(clone, built);
    expect(await version()).toBe(`${contractVersion}+${revision}\n`);
    expect(readBuild(built)).toEqual({ version: contractVersion, revision });
    const text = await createMetrics(readBuild(built)).registry.metrics();
    expect(text).toContain(`payments_build_info{revision="${revision}",version="${contractVersion}"} 1`);
  });

  it('is marked if files differ from it, or are not in it', async () => {
    const revision = (await git('rev-parse', 'HEAD')).stdout.slice(0, 12);
    for (const name of ['.gitignore', 'new.ts']) {
      writeFileSync(join(clone, name), 'dist/\n\n');
      writeRevision(clone, built);
      expect(readBuild(built).revision).toBe(`${revision}-dirty`);
      await git('stash', '--include-untracked', '--quiet');
    }
    writeRevision(clone, built);
    expect(readBuild(built).revision).toBe(revision);
  });

  it('is not that of a repository around it', () => {
    const inside = join(clone, 'inside');
    mkdirSync(inside);
    writeRevision(inside, inside);
    expect(readdirSync(inside)).toEqual([]);
  });
});

describe('the archive of `npm run build`', () => {
  it('makes a package that runs with Node alone, without sources and tests', async () => {
    const project = join(scratch, 'project');
    mkdirSync(project);
    const file = 'payments-service.tgz';
    writeFileSync(join(project, file), await packService(inject('compiled')));
    expect((await run('tar', ['-xzf', file], { cwd: project })).status).toBe(0);
    const installed = join(project, 'package');
    expect(readdirSync(installed).sort()).toEqual([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'],
      ...['bin', 'dist', 'docs', 'openapi', 'package.json', 'testing'],
    ]);
    const link = join(scratch, 'payments');
    symlinkSync(join(installed, 'bin', 'payments.js'), link);
    expect(await run(link, ['--version'])).toMatchObject({ status: 0, stdout: `${contractVersion}\n` });
    // It has no scripts of npm, so hints name its own files.
    const { status, stderr } = await run(link, ['keys', 'list'], { cwd: scratch, env: { DATA_DIR: 'none' } });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /For production, name the file .* --settings \/etc\/payments\/payments\.env …\n$/,
      ),
    ]);
    // Guides are in the package.
    const help = await run(link, ['secrets', 'rotate', '--help'], { cwd: scratch });
    expect(help.stdout).toMatch(/^Usage: /);
    expect(help.stdout).toContain(join(installed, 'docs/guides/keys.md'));
    // Nor does a command that writes create a sandbox, which its operator would take for production.
    const create = ['accounts', 'create', 'shop', '--name', 'Shop'];
    const written = await run(link, create, { cwd: scratch, env: { DATA_DIR: 'none' } });
    expect([written.status, written.stderr]).toEqual([1, stderr]);
    expect(readdirSync(scratch)).not.toContain('none');
  });

  it('is named by its path in hints, as seen from the current folder', () => {
    expect(commandsHere('/opt/my pay/dist', '/opt')).toEqual({
      start: "node 'my pay/dist/server/main.js'",
      command: "node 'my pay/bin/payments.js'",
    });
    expect(commandsHere(root)).toEqual({ start: 'npm start', command: 'npm run -s payments --' });
  });
});
