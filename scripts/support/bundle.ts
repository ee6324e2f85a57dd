// Bundles programs with all their packages: they load in a third of the time, because most of it is spent on finding files.
import { isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, context, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { root } from './root.ts';

/**
 * Prism loads faker with the data of sixty languages, of which it uses English, and the parts that read Postman collections,
 * which we do not have: two thirds of the time that the mock takes to start.
 */
const lightPrism: Plugin = {
  name: 'light-prism',
  setup(builder) {
    builder.onResolve({ filter: /^@faker-js\/faker$/ }, ({ resolveDir }) => ({
      path: resolveDir,
      namespace: 'faker',
    }));
    builder.onLoad({ filter: /^/, namespace: 'faker' }, ({ path }) => ({
      contents:
        "import english from '@faker-js/faker/locale/en'; export { english as default, english as faker };",
      resolveDir: path,
    }));
    builder.onResolve({ filter: /^postman-collection$/ }, ({ path }) => ({ path, namespace: 'empty' }));
    builder.onLoad({ filter: /^/, namespace: 'empty' }, () => ({ contents: 'module.exports = {}' }));
  },
};

/** The files are imported from where they are, so a bundle need not be made again when one of them changes. */
const importedInPlace = (files: string[]): Plugin => ({
  name: 'imported-in-place',
  setup(builder) {
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const file = resolve(resolveDir, path);
      return files.includes(file) ? { path: pathToFileURL(file).href, external: true } : undefined;
    });
  },
});

interface Options {
  /** With source maps, which stacks and debuggers need to show TypeScript. */
  sourcemap?: boolean;
  minify?: boolean;
  /** Files of the project that are no part of the bundle. */
  inPlace?: string[];
}

/** Writes `server/main.ts` to `server/main.js` in the folder; returns the files that went into it, relative to the project. */
export async function bundle(programs: string[], folder: string, options: Options = {}): Promise<string[]> {
  return inputsOf((await build(settings(programs, folder, options))).metafile);
}

export interface Bundler {
  /** As `bundle` does, but parses only what has changed. */
  bundle: () => Promise<string[]>;
  dispose: () => Promise<void>;
}

export async function createBundler(
  programs: string[],
  folder: string,
  options: Options = {},
): Promise<Bundler> {
  const made = await context(settings(programs, folder, options));
  return {
    bundle: async () => inputsOf((await made.rebuild()).metafile),
    dispose: () => made.dispose(),
  };
}

const settings = (
  programs: string[],
  folder: string,
  { sourcemap = false, minify = false, inPlace = [] }: Options,
) =>
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
    plugins: [lightPrism, importedInPlace(inPlace.map((file) => join(root, file)))],
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
