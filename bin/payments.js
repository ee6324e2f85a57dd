#!/usr/bin/env node
// The `payments` command of an installation: runs what `npm run build` compiled.
import { existsSync } from 'node:fs';

const compiled = new URL('../dist/server/cli/main.js', import.meta.url);
if (existsSync(compiled)) await import(compiled.href);
else {
  console.error(
    'payments is not built yet. Run: npm run build, or without a build: npm run -s payments -- …',
  );
  process.exitCode = 1;
}
