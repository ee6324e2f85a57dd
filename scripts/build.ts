// `npm run build`: compiles to JavaScript in dist/ and copies the contract and the docs there.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './support/redocly.ts';

const run = (program: string, args: string[]) => {
  const { status } = spawnSync(join(root, 'node_modules', '.bin', program), args, {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
};

rmSync(join(root, 'dist'), { recursive: true, force: true });
run('tsc', ['-p', 'tsconfig.build.json']);
run('tsx', ['scripts/docs.ts']);
for (const file of ['openapi.json', 'validators.js'])
  cpSync(join(root, 'generated', file), join(root, 'dist/generated', file));
cpSync(join(root, 'site'), join(root, 'dist/site'), { recursive: true });
console.log(`Built dist/.
  Start the service:  ENVIRONMENT=production node dist/server/main.js
  Operate it:         npx payments --help`);
