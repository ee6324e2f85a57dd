/** Compiles the project to JavaScript for the processes of tests; `tsx` would compile it again in each process. */
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';

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

/** Programs that tests start often. With all packages in one file they load in a quarter of the time. */
const programs = ['server/main', 'server/cli/main', 'mock/main'];

/** With the files of the service that it uses, because copies of the project in which tests run it have only scripts/. */
const generate = 'scripts/generate';

/** The files of a bundle still look for others next to where they would be by themselves. */
const keepPlaces = (program: string): Plugin => ({
  name: 'keep-places',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const place = JSON.stringify(`/${relative(dirname(join(root, program)), dirname(path))}`);
      return {
        contents: text.replaceAll('import.meta.dirname', `(import.meta.dirname + ${place})`),
        loader: 'ts',
      };
    });
  },
});

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

const bundleProgram = (to: string, program: string, options: BuildOptions = {}) =>
  build({
    entryPoints: [join(root, `${program}.ts`)],
    outfile: join(to, `${program}.js`),
    plugins: [keepPlaces(program)],
    // A package of Prism's loads its own parts in a way that only works outside of a bundle, except as a module.
    mainFields: ['module', 'main'],
    // Packages in CommonJS call `require`, which ECMAScript modules do not have.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    ...common,
    ...options,
  });

/** Returns the folder, which whoever asked removes. It lies below node_modules, so that packages are found from there. */
export async function compileProject(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'payments-tests-'));
  // Other users run it too: PostgreSQL does not run as root.
  await chmod(folder, 0o755);
  await compileInto(root, folder);
  await Promise.all([
    ...programs.map((program) => bundleProgram(folder, program)),
    bundleProgram(folder, generate, { packages: 'external' }),
  ]);
  for (const file of ['openapi.json', 'validators.js'])
    await copyFile(join(root, 'generated', file), join(folder, 'generated', file));
  // The site may not exist; tests that need it build it first.
  await symlink(join(root, 'site'), join(folder, 'site'));
  return folder;
}
