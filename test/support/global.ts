/** Runs before all tests, and prepares what the folders of the chosen tests need: see CONTRIBUTING.md. */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { areDocsBuilt } from '../../scripts/docs/digest.ts';
import { isStale } from '../../scripts/generate/digest.ts';
import { makeValidators } from '../../scripts/generate/fresh-validators.ts';
import { isListStale } from '../../scripts/generate/migrations.ts';
import { root } from '../../scripts/support/root.ts';
import type { Cluster } from './cluster.ts';
import type { SandboxFiles } from './prepared.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of random tests. */
    seed: number;
    /** A server on which tests may create databases. */
    serverUrl: string;
    /** That server, or the cluster of Citus whose coordinator it is. */
    cluster: Cluster;
    /** A migrated database with nothing in it. */
    template: string;
    /** The same after the first start of a sandbox. */
    furnished: string;
    sandboxFiles: SandboxFiles;
    /** The tables that belong to merchant accounts. */
    accountTables: string[];
    /** The folder with the compiled project. */
    compiled: string;
  }
}

/** What tests in these folders need. */
const withDatabase = ['service', 'process', 'tools'];
const withProcesses = ['process', 'tools'];
const withDocs = ['tools'];

type Cleanup = () => Promise<void>;

export default async function setup(project: TestProject): Promise<Cleanup> {
  // With `fsModuleCache`, Vite's own throws a TypeError for whatever error is made in this process.
  Reflect.deleteProperty(Error, 'prepareStackTrace');
  if ((await isStale(root)) || (await isListStale(root)))
    console.warn('The contract or a migration has changed: npm run generate');
  await makeValidators();
  project.provide('seed', chooseSeed());
  const { config, state } = project.vitest;
  const chosen = new Set(
    state.getPaths().map((path) => relative(join(root, 'test'), path).split('/')[0] ?? ''),
  );
  // In watch mode any file may be chosen later.
  const needs = (folders: string[]) => config.watch || folders.some((folder) => chosen.has(folder));
  const cleanups = await Promise.all([
    needs(withDatabase) ? prepareDatabase(project) : undefined,
    needs(withProcesses) ? compile(project) : undefined,
    needs(withDocs) ? buildDocs() : undefined,
  ]);
  return async () => {
    for (const cleanup of cleanups) await cleanup?.();
  };
}

/** A found seed becomes an example of its test. `SEED=random` looks for more. */
function chooseSeed(): number {
  const { SEED = '20261115' } = process.env;
  if (SEED !== 'random') return Number(SEED);
  const seed = randomInt(2 ** 31);
  console.log(`SEED=${seed}`);
  return seed;
}

/** Imports when needed: to load the server takes longer than most unit tests. */
async function prepareDatabase(project: TestProject): Promise<Cleanup> {
  const { fillFolder, readSandboxFiles, removeRun, startCluster } = await import('./prepared.ts');
  const { createDatabase, dropDatabases, findCluster, urlOf, withClient } = await import('./cluster.ts');
  const { listAccountTables } = await import('./account-statements.ts');
  const folder = await mkdtemp(join(tmpdir(), 'payments-test-'));
  // As root, PostgreSQL runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const remove = () => {
    removeRun(folder);
  };
  // After Ctrl+C vitest exits at once, without a teardown.
  process.on('exit', remove);
  // npm passes the signal on, so that it comes twice. Without a listener the second one would end the process at once.
  process.on('SIGINT', () => undefined);
  // So that the folders of tests are removed as well: there are keys in them. Its name is short, because the path of a socket must be.
  process.env.TMPDIR = folder;
  const given = process.env.TEST_DATABASE_URL;
  // On a server that others use, too, the names are those of this run.
  const run = given === undefined ? 'run' : String(process.pid);
  const templates = { template: `test_template_${run}`, furnished: `test_furnished_${run}` };

  const start = async () => {
    await fillFolder(folder, templates);
    return (await startCluster(folder)).url;
  };
  const serverUrl = given ?? (await start());
  const cluster = await findCluster(serverUrl);
  if (given !== undefined)
    await (await import('./templates.ts')).makeTemplates(cluster, templates, join(folder, 'sandbox'));

  project.provide('serverUrl', serverUrl);
  project.provide('cluster', cluster);
  project.provide('template', templates.template);
  project.provide('furnished', templates.furnished);
  project.provide('sandboxFiles', await readSandboxFiles(join(folder, 'sandbox')));
  // On Citus nobody can connect to a template: see `closeTemplate`.
  const looked = cluster.isCitus ? `test_looked_${run}` : templates.furnished;
  if (cluster.isCitus) await createDatabase(cluster, looked, templates.template);
  project.provide(
    'accountTables',
    await withClient(urlOf(serverUrl, looked), (client) => listAccountTables(client)),
  );
  return async () => {
    if (given !== undefined) await dropDatabases(cluster, `test\\_%\\_${run}%`);
    remove();
  };
}

async function compile(project: TestProject): Promise<Cleanup> {
  const folder = await (await import('./compile.ts')).compileProject();
  project.provide('compiled', folder);
  return () => rm(folder, { recursive: true, force: true });
}

/** In site/ and pages/, as for `npm start`: once for all files that look at them, and only after a change. */
async function buildDocs(): Promise<undefined> {
  if (!areDocsBuilt()) await promisify(execFile)('npm', ['run', '--silent', 'docs'], { cwd: root });
}
