// `npm run build`: compiles to JavaScript in dist/ and copies the contract and the docs there, with a bill of materials.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBill } from './support/bill.ts';
import { bundle } from './support/bundle.ts';
import { root } from './support/root.ts';

const run = (program: string, args: string[]) => {
  const { status } = spawnSync(join(root, 'node_modules', '.bin', program), args, {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
};

rmSync(join(root, 'dist'), { recursive: true, force: true });
// Types only: what runs is bundled.
run('tsc', ['-p', 'tsconfig.build.json']);
await bundle(['server/main.ts', 'server/cli/main.ts'], join(root, 'dist'));
run('tsx', ['scripts/docs.ts']);
cpSync(join(root, 'generated/openapi.json'), join(root, 'dist/generated/openapi.json'));
for (const folder of ['site', 'pages'])
  cpSync(join(root, folder), join(root, 'dist', folder), { recursive: true });
writeFileSync(join(root, 'dist/sbom.json'), JSON.stringify(readBill(), null, 2));
console.log(`Built dist/, with a bill of materials in dist/sbom.json.
  Start the service:  ENVIRONMENT=production node dist/server/main.js
  Operate it:         npx payments --help`);
