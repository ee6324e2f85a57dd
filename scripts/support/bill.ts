// What is passed on with code of others: the bill of materials, and the licence texts, which most licences want.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

/** In the format CycloneDX, from the lock file: what is installed may have been put there by hand. */
export const readBill = (): string =>
  execFileSync('npm', ['sbom', '--omit=dev', '--package-lock-only', '--sbom-format=cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });

/** Packages for development whose code is in the pages. Redoc is a part of `@redocly/cli`. */
export const shippedInPages = [
  '@fontsource-variable/inter',
  '@redocly/cli',
  '@scalar/fastify-api-reference',
  'minisearch',
];

/** Of the packages that these files are of, as `bundle` returns them. */
export function licenceTexts(files: string[]): string {
  const packageOf = (file: string) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [];
  const texts = [...new Set(files.flatMap(packageOf))].sort().map((path) => {
    const folder = join(root, path);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    const { name, version, license, author } = manifest;
    const own = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    // Some packages have no text: then what their package.json says.
    const text = own.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version}\n\n${text || JSON.stringify({ license, author })}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

interface Manifest {
  name: string;
  version: string;
  license?: unknown;
  author?: unknown;
}
