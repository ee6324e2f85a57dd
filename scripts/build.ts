// `npm run build`: bundles the service into dist/, with its contract, the docs and a bill of materials. It needs no packages.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocs } from './docs.ts';
import { readBill } from './support/bill.ts';
import { bundle } from './support/bundle.ts';
import { writeRevision } from './support/revision.ts';
import { root } from './support/root.ts';

const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
await bundle(['server/main.ts', 'server/cli/main.ts'], dist);
cpSync(join(root, 'generated/openapi.json'), join(dist, 'generated/openapi.json'));
await buildDocs({ out: join(dist, 'site'), pages: join(dist, 'pages') });
writeRevision(root, dist);
writeFileSync(join(dist, 'sbom.json'), JSON.stringify(readBill(), null, 2));
console.log(`Built dist/, with a bill of materials in dist/sbom.json.
  Start the service:  ENVIRONMENT=production node dist/server/main.js
  Operate it:         npx payments --help`);
