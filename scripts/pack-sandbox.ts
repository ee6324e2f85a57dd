// Started by server/kit/http/package.ts beside `npm start`: packs this checkout for /sandbox.tgz, after the docs, and prints the file. It is
// kept in .cache/ by the digest of its sources, so that a later start finds it.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { areDocsBuilt } from './docs/digest.ts';
import { buildService, packService } from './packages.ts';
import { filesIn } from './support/files.ts';
import { root } from './support/root.ts';

const docsSeconds = 600;

/** Of all files that a build reads, which .dockerignore lists. */
function sourcesDigest(): string {
  const listed = [...readFileSync(join(root, '.dockerignore'), 'utf8').matchAll(/^!(.*)$/gm)];
  const files = listed.flatMap(([, name = '']) =>
    statSync(join(root, name)).isDirectory() ? filesIn(root, name) : [name],
  );
  const hash = createHash('sha256');
  // The validators are made from the rest.
  for (const file of files.filter((name) => name !== 'generated/validators.js'))
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

async function packSandbox(): Promise<string> {
  const cache = join(root, '.cache');
  const digest = sourcesDigest();
  const archive = join(cache, `sandbox-${digest}.tgz`);
  if (existsSync(archive)) return archive;
  // Another process builds them: see regenerate-if-stale.ts.
  for (let seconds = 0; !areDocsBuilt(); seconds += 1) {
    if (seconds === docsSeconds) throw new Error('The docs are not built. `npm run docs` says why.');
    await wait(1000);
  }
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'packing-'));
  // All that is temporary goes there, and goes away, also if this is stopped with the service.
  process.env.TMPDIR = work;
  process.on('exit', () => {
    rmSync(work, { recursive: true, force: true });
  });
  const dist = join(work, 'dist');
  await buildService(dist);
  for (const part of ['site', 'pages']) cpSync(join(root, part), join(dist, part), { recursive: true });
  const written = join(work, 'sandbox.tgz');
  writeFileSync(written, await packService(dist));
  if (sourcesDigest() !== digest)
    throw new Error('Files were edited meanwhile. The next `npm start` packs what is there then.');
  for (const name of readdirSync(cache)) if (/^sandbox-.*\.tgz$/.test(name)) rmSync(join(cache, name));
  renameSync(written, archive);
  return archive;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
// The service, which somebody has just started, comes first.
setPriority(10);
await packSandbox().then(
  (archive) => {
    console.log(archive);
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);
