// `npm run build`: builds the service with its docs into dist/, and packs it into the archive for servers and for tests.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programName } from '../generated/operations.ts';
import { buildDocs } from './docs.ts';
import { archiveNames, buildService, packService } from './packages.ts';
import { root } from './support/root.ts';

const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
await buildService(dist);
await buildDocs(join(dist, 'site'), join(dist, 'pages'));
const archive = archiveNames()['sandbox.tgz'];
writeFileSync(join(root, archive), await packService(dist));
console.log(`Built dist/, with a bill of materials in dist/sbom.json and the licences in dist/THIRD-PARTY-LICENCES.txt, and packed it into ${archive}.
  Start the service:  ENVIRONMENT=production node dist/server/main.js
  Operate it:         npx ${programName} --help`);
