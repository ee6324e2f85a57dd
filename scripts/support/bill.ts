// What is passed on with code of others: the bill of materials, and the licence texts, which most licences want.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

/** Packages for development whose code is in the pages. Redoc is a part of `@redocly/cli`. What is bundled inside them: see below. */
export const shippedInPages = [
  '@fontsource-variable/inter',
  '@redocly/cli',
  '@scalar/fastify-api-reference',
  'minisearch',
];

/**
 * What Redoc and Scalar have bundled, with its licences: no lock file has it, because they come as one script. A version of theirs that
 * is not named at the top of the file needs a new one.
 */
export const insidePages = readFileSync(join(root, 'scripts/support/inside-pages.txt'), 'utf8');

const bundledInPages = (): Component[] =>
  insidePages.split(/^=+$/m).flatMap((section) => {
    const [licence = ''] = section.trim().split('\n');
    return [...section.matchAll(/^ {2}(\S+)@(\S+)/gm)].map(([, name = '', version = '']) => {
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
      return {
        type: 'library',
        name,
        version,
        'bom-ref': purl,
        purl,
        licenses: [{ license: idOf(licence) }],
      };
    });
  });

/** `NOASSERTION` is no licence of SPDX's list. */
const idOf = (licence: string) => (licence === 'NOASSERTION' ? { name: licence } : { id: licence });

interface Component {
  name: string;
  version: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  properties?: { name: string }[];
}

interface Bill {
  components: Component[];
}

/**
 * In the format CycloneDX, as npm writes it from the lock file: what is installed may have been put there by hand. Of packages for
 * development only those that are shipped; npm's `--omit=dev` would also omit what both the service and a tool use.
 */
export function readBill(): Bill {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const bill = JSON.parse(text) as Bill;
  const isDevelopment = ({ properties = [] }: Component) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development');
  const components = bill.components.filter(
    (one) => !isDevelopment(one) || shippedInPages.includes(one.name),
  );
  return { ...bill, components: [...components, ...bundledInPages()] };
}

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
