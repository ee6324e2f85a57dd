// The bill of materials: every package whose code is part of what `npm run build` writes.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

/**
 * Packages for development that are shipped nevertheless: in the pages (Redoc is a part of `@redocly/cli`), and what `debug` uses
 * if it happens to be installed.
 */
const shipped = [
  '@fontsource-variable/inter',
  '@redocly/cli',
  '@scalar/fastify-api-reference',
  'minisearch',
  'supports-color',
];

/** We may bundle code under these without publishing ours. */
const permissive = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  // Fonts.
  'OFL-1.1',
  'Python-2.0',
];

interface Component {
  name: string;
  version: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  properties?: { name: string }[];
}

interface Bill {
  components: Component[];
}

export interface Licence {
  name: string;
  version: string;
  licence: string;
  isPermissive: boolean;
}

/** In the format CycloneDX, as npm writes it from the lock file: what is installed may have been put there by hand. Of packages for development only those that are shipped. */
export function readBill(): Bill {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  if (status !== 0) throw new Error(`npm could not list the packages: ${stderr}`);
  const bill = JSON.parse(stdout) as Bill;
  const isDevelopment = ({ properties = [] }: Component) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development');
  const components = bill.components.filter((one) => !isDevelopment(one) || shipped.includes(one.name));
  return { ...bill, components };
}

export function licencesOf({ components }: Bill): Licence[] {
  return components
    .map(({ name, version, licenses = [] }) => {
      const licence =
        licenses.map((one) => one.expression ?? one.license?.id ?? one.license?.name).join(', ') ||
        findOldLicence(name);
      // Of `(MIT OR CC0-1.0)` one is enough.
      const isPermissive = licence
        .replace(/[()]/g, '')
        .split(' OR ')
        .some((choice) => permissive.includes(choice));
      return { name, version, licence, isPermissive };
    })
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

/** Old packages have a list of licences, which the lock file does not take over. */
function findOldLicence(name: string): string {
  try {
    const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8');
    const { licenses = [] } = JSON.parse(text) as { licenses?: { type: string }[] };
    return licenses.map(({ type }) => type).join(' OR ') || 'none given';
  } catch {
    return 'none given';
  }
}
