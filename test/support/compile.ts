/** Compiles the project to JavaScript for the processes of tests; `tsx` would compile it again in each process. */
import { copyFile, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');
const parts = ['generated', 'server', 'client', 'mock', 'scripts'];

/** One output file per source file, because programs look for files next to themselves. */
const keepFiles: Plugin = {
  name: 'keep-files',
  setup(builder) {
    builder.onResolve({ filter: /^\./ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true },
    );
  },
};

/** Returns the folder; the caller removes it. It is inside node_modules, so that packages are found from there. */
export async function compileProject(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'payments-tests-'));
  const files = await Promise.all(
    parts.map(async (part) =>
      (await readdir(join(root, part), { recursive: true }))
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
        .map((file) => join(root, part, file)),
    ),
  );
  await build({
    entryPoints: files.flat(),
    outdir: folder,
    outbase: root,
    bundle: true,
    packages: 'external',
    plugins: [keepFiles],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  await copyFile(join(root, 'generated', 'openapi.json'), join(folder, 'generated', 'openapi.json'));
  // The site may not exist; tests that need it build it first.
  await symlink(join(root, 'site'), join(folder, 'site'));
  return folder;
}
