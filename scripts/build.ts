// `npm run build`: bundles the service into dist/, with its contract, the docs, a bill of materials and the licences of others. It needs
// no packages. Then packs it into the archive for servers and for tests.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractVersion, programName } from '../generated/operations.ts';
import { buildDocs } from './docs.ts';
import { packService, shared } from './packages.ts';
import { licenceTexts, readBill, shippedInPages } from './support/bill.ts';
import { bundle } from './support/bundle.ts';
import { writeRevision } from './support/revision.ts';
import { root } from './support/root.ts';

const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
const files = await bundle(['server/main.ts', 'server/cli/main.ts'], dist);
cpSync(join(root, 'generated/openapi.json'), join(dist, 'generated/openapi.json'));
await buildDocs(join(dist, 'site'), join(dist, 'pages'));
writeRevision(root, dist);
writeFileSync(join(dist, 'sbom.json'), JSON.stringify(readBill(), null, 2));
const inPages = shippedInPages.map((name) => `node_modules/${name}/package.json`);
writeFileSync(join(dist, 'THIRD-PARTY-LICENCES.txt'), licenceTexts([...files, ...inPages]));
const archive = `${shared(root).name}-${contractVersion}.tgz`;
writeFileSync(join(root, archive), await packService(dist));
console.log(`Built dist/, with a bill of materials in dist/sbom.json and the licences in dist/THIRD-PARTY-LICENCES.txt, and packed it into ${archive}.
  Start the service:  ENVIRONMENT=production node dist/server/main.js
  Operate it:         npx ${programName} --help`);
