import { join } from 'node:path';
import { build } from 'esbuild';

/** A script of browser/ with what it imports, for a page. */
export async function bundled(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'browser', name)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
  });
  return outputFiles[0]?.text ?? '';
}
