// The licence texts of bundled packages, which most licences want to be passed on with the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

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
