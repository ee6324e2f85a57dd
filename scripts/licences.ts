// `npm run licences`: lists the licences of all packages whose code the built service contains.
import { licencesOf, readBill } from './support/bill.ts';

const help = `List the licences of the packages that the built service contains, and of the embedded PostgreSQL.

  npm run licences              a table; exits with 1 if a licence needs a look
  npm run -s licences -- --json for programs

npm run build writes the same packages to dist/sbom.json (CycloneDX), with their digests.`;

function main(args: string[]): number {
  if (args.includes('--help')) {
    console.log(help);
    return 0;
  }
  const unknown = args.filter((arg) => arg !== '--json');
  if (unknown.length > 0) {
    console.error(`Unknown: ${unknown.join(' ')}\n\n${help}`);
    return 2;
  }
  const licences = licencesOf(readBill());
  const others = licences.filter(({ isPermissive }) => !isPermissive);
  if (args.includes('--json')) console.log(JSON.stringify({ items: licences }, null, 2));
  else {
    const width = Math.max(...licences.map(({ name, version }) => name.length + version.length + 1));
    for (const { name, version, licence } of licences)
      console.log(`${`${name}@${version}`.padEnd(width)}  ${licence}`);
    const count = (all: readonly unknown[]) => `${all.length} package${all.length === 1 ? '' : 's'}`;
    console.log(
      `\n${count(licences)}, ${others.length === 0 ? 'all' : 'not all'} under permissive licences.`,
    );
    if (others.length > 0)
      console.error(
        `Ask before you ship these: ${others.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`,
      );
  }
  return others.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
