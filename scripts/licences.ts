// `npm run licences`: lists the licences of all packages whose code the built service contains, and of the embedded PostgreSQL.
// `npm run build` writes the same packages to dist/sbom.json (CycloneDX), for programs. Then it asks the registry how old the
// version of each production dependency is, so it is no part of `npm run check`, which works offline.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { licencesOf, readBill } from './support/bill.ts';
import { root } from './support/root.ts';

const licences = licencesOf(readBill());
for (const { name, version, licence } of licences)
  console.log(`${`${name}@${version}`.padEnd(50)}  ${licence}`);
const others = licences.filter(({ isPermissive }) => !isPermissive);
console.log(`\n${licences.length} packages, ${others.length} of them not under permissive licences.`);
if (others.length > 0) {
  const named = others.map(({ name, licence }) => `${name} (${licence})`);
  console.error(`Ask before you ship these: ${named.join(', ')}`);
  process.exitCode = 1;
}

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

const { dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Manifest;
const dayMilliseconds = 24 * 3_600_000;

const registry = execFileSync('npm', ['config', 'get', 'registry'], { cwd: root, encoding: 'utf8' }).trim();

/** Undefined if the registry does not say it. */
async function ageOf([name, version]: [string, string]) {
  try {
    const response = await fetch(new URL(name.replace('/', '%2f'), registry));
    const { time } = (await response.json()) as { time: Record<string, string> };
    const days = Math.floor((Date.now() - Date.parse(time[version] ?? '')) / dayMilliseconds);
    return Number.isNaN(days) ? undefined : { version: `${name}@${version}`, days };
  } catch {
    return undefined;
  }
}

const asked = Object.entries({ ...dependencies, ...optionalDependencies });
const ages = (await Promise.all(asked.map(ageOf))).filter((age) => age !== undefined);
console.log('\nDays since each production dependency was published:');
for (const { version, days } of ages.sort((a, b) => b.days - a.days))
  console.log(`${version.padEnd(50)}  ${days}${days > 365 ? ', more than a year' : ''}`);
if (ages.length < asked.length)
  console.log(`The registry did not say it of ${asked.length - ages.length}. Is this machine offline?`);
