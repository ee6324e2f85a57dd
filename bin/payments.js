#!/usr/bin/env node
// The `payments` command of an installation: runs what `npm run build` compiled.
import { existsSync } from 'node:fs';

const compiled = new URL('../dist/server/cli/main.js', import.meta.url);
if (existsSync(compiled)) await import(compiled.href);
else {
  // A clone has scripts/; an installation cannot build.
  const isClone = existsSync(new URL('../scripts', import.meta.url));
  console.error(
    isClone
      ? 'payments is not built yet. Run: npm run build, or without a build: npm run -s payments -- …'
      : 'This installation has no dist/. Make it again as docs/guides/operator.md says, "Install on a server".',
  );
  process.exitCode = 1;
}
