// Bundles programs with all their packages: they load in a third of the time, because most of it is spent on finding files.
import { isAbsolute, join, relative } from 'node:path';
import { build, context, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { makeValidators, validatorsFile } from '../generate/fresh-validators.ts';
import { root } from './root.ts';

/**
 * Packages that others load and that we never use: made-up values in sixty languages, which take the mock long to load, Postman
 * collections, uploaded files, Express's parsers of bodies, colours.
 */
const unused = /^(@faker-js\/faker|postman-collection|multer|body-parser|supports-color)$/;

/** Packages of which we use a part. With all of it, the text of the service, which V8 keeps, is half as long again. */
const parts: Record<string, string> = {
  undici: `export { default as Client } from 'undici/lib/dispatcher/client.js';
    export { default as buildConnector } from 'undici/lib/core/connect.js';`,
};

const withoutUnused: Plugin = {
  name: 'without-unused',
  setup(builder) {
    builder.onResolve({ filter: unused }, ({ path }) => ({ path, namespace: 'empty' }));
    builder.onLoad({ filter: /^/, namespace: 'empty' }, () => ({ contents: 'module.exports = {}' }));
    builder.onResolve({ filter: /^undici$/ }, ({ path, resolveDir }) => ({
      path,
      namespace: 'part',
      pluginData: resolveDir,
    }));
    builder.onLoad({ filter: /^/, namespace: 'part' }, ({ path, pluginData }) => ({
      contents: parts[path] ?? '',
      resolveDir: pluginData as string,
    }));
  },
};

/** Makes generated/validators.js before a program that imports it is bundled. */
const withValidators: Plugin = {
  name: 'with-validators',
  setup(builder) {
    builder.onResolve({ filter: /\/generated\/validators\.js$/ }, async () => {
      await makeValidators();
      return { path: join(root, validatorsFile) };
    });
  },
};

interface Options {
  /** With source maps, which stacks and debuggers need to show TypeScript. */
  sourcemap?: boolean;
  minify?: boolean;
}

/** Writes `server/main.ts` to `server/main.js` in the folder; returns the files that went into it, relative to the project. */
export async function bundle(programs: string[], folder: string, options: Options = {}): Promise<string[]> {
  return inputsOf((await build(settings(programs, folder, options))).metafile);
}

/** Its `bundle` parses only what has changed since the last time. It also returns the packages that are not in the bundle. */
export async function createBundler(program: string, folder: string) {
  const made = await context(settings([program], folder, { sourcemap: true }));
  return {
    bundle: async () => {
      const { metafile } = await made.rebuild();
      return { inputs: inputsOf(metafile), packages: packagesOf(metafile) };
    },
    dispose: () => made.dispose(),
  };
}

const settings = (programs: string[], folder: string, { sourcemap = false, minify = false }: Options) =>
  ({
    absWorkingDir: root,
    entryPoints: programs,
    outbase: root,
    outdir: folder,
    bundle: true,
    // What a command loads on demand stays in files of its own.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // A package of Prism's loads its own parts in a way that only works outside of a bundle, except as a module.
    mainFields: ['module', 'main'],
    // Packages in CommonJS call `require`, which ECMAScript modules do not have.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    // Of the tools only our own code: esbuild and others cannot be bundled.
    packages: programs.some((program) => /^scripts\/(?!bench\/)/.test(program)) ? 'external' : 'bundle',
    // Peers of the benchmark have their packages as they are.
    plugins: [
      withValidators,
      ...(programs.some((program) => program.startsWith('scripts/')) ? [] : [withoutUnused]),
    ],
    sourcemap,
    minify,
    // V8 keeps the text of a program, and takes two bytes for each character as soon as one comment has a typographic quote.
    minifyWhitespace: true,
    // Node prints the whole line of an error that nobody catches.
    lineLimit: 160,
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
  }) satisfies BuildOptions;

const inputsOf = ({ inputs }: Metafile): string[] =>
  Object.keys(inputs)
    .filter((file) => !file.includes(':'))
    .map((file) => (isAbsolute(file) ? relative(root, file) : file));

/** Those that it loads when it starts, with the modules of Node. */
const packagesOf = ({ outputs }: Metafile): string[] =>
  Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, kind }) => external === true && kind === 'import-statement')
    .map(({ path }) => path);
