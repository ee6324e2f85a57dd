/** Compiles the project to JavaScript for the processes of tests; `tsx` would compile it again in each process. */
import { chmod, copyFile, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { bundle } from '../../scripts/support/bundle.ts';
import { root } from '../../scripts/support/root.ts';

const parts = ['generated', 'server', 'client', 'mock', 'scripts', 'testing'];

/** One output file per source file, because programs look for files next to themselves. */
const keepFiles: Plugin = {
  name: 'keep-files',
  setup(builder) {
    builder.onResolve({ filter: /^\./ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true },
    );
  },
};

/** Programs that tests start often. */
const programs = ['server/main.ts', 'server/cli/main.ts', 'mock/main.ts'];

const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'error',
};

/** File by file, from one folder of the project's shape to another, which may be the same. */
export async function compileInto(from: string, to: string): Promise<void> {
  const files = await Promise.all(
    parts.map(async (part) =>
      (await readdir(join(from, part), { recursive: true }).catch(() => []))
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
        .map((file) => join(from, part, file)),
    ),
  );
  await build({
    entryPoints: files.flat(),
    outdir: to,
    outbase: from,
    packages: 'external',
    plugins: [keepFiles],
    ...common,
  });
}

/** With the files of the service that it uses, because copies of the project in which tests run it have only scripts/. */
const bundleGenerate = (to: string) =>
  build({
    entryPoints: [join(root, 'scripts/generate.ts')],
    outfile: join(to, 'scripts/generate.js'),
    packages: 'external',
    ...common,
  });

/** Returns the folder, which whoever asked removes. It lies below node_modules, so that packages are found from there. */
export async function compileProject(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'payments-tests-'));
  // Other users run it too: PostgreSQL does not run as root.
  await chmod(folder, 0o755);
  await compileInto(root, folder);
  await Promise.all([bundle(programs, folder), bundleGenerate(folder)]);
  for (const file of ['openapi.json', 'validators.js'])
    await copyFile(join(root, 'generated', file), join(folder, 'generated', file));
  // They may not exist; tests that need them build them first.
  for (const built of ['site', 'pages']) await symlink(join(root, built), join(folder, built));
  return folder;
}
