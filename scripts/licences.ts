// `npm run licences`: lists the licences of all packages whose code the built service contains, and of the embedded PostgreSQL.
// `npm run build` writes the same packages to dist/sbom.json (CycloneDX), for programs.
import { licencesOf, readBill } from './support/bill.ts';

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
