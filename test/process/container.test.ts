// The container image: every instruction of the Dockerfile is carried out, and the service runs from the result as compose.yaml
// starts it.
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractVersion } from '../../generated/operations.ts';
import { secretNames } from '../../server/settings.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { interpolate, readCompose } from '../support/deployment.ts';
import { startLossyDatabase } from '../support/lost-commit.ts';
import { freePort } from '../support/ports.ts';
import { listening, run } from '../support/processes.ts';
import { replayDockerfile, startInImage, type Image } from '../support/replay.ts';

let folder: string;
let image: Image;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-container-'));
  await chmod(folder, 0o755);
  image = await replayDockerfile(folder);
  // It compiles everything, and builds the docs.
}, 240_000);
afterAll(async () => {
  await run('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
});

/** The variables of compose.yaml, but with the database and a port of this machine. */
async function variables(databaseUrl: string): Promise<Record<string, string>> {
  const dotEnv: Record<string, string> = { PUBLIC_URL: 'https://payments.example' };
  for (const name of secretNames) dotEnv[name] = randomBytes(32).toString('base64');
  const { environment } = readCompose().services.payments;
  return {
    ...interpolate(environment, dotEnv),
    DATABASE_URL: databaseUrl,
    PORT: String(await freePort()),
  };
}

const inImage = async (command: string[], env: Record<string, string> = {}) => {
  const child = startInImage(image, command, env);
  child.process.stdin.end();
  return child.ended;
};

describe('the image', () => {
  it('has the build and the command, and neither packages, sources, tests nor keys', async () => {
    const app = join(image.folder, 'app');
    expect((await readdir(app)).sort()).toEqual(['bin', 'dist', 'package.json']);
    expect((await readdir(join(app, 'dist'))).sort()).toEqual([
      'chunks',
      'generated',
      'pages',
      'sbom.json',
      'server',
      'site',
    ]);
    const files = await readdir(app, { recursive: true });
    expect(files.filter((file) => /\.ts$|\.test\.|\.pem$|\.env$|node_modules|\.git/.test(file))).toEqual([]);
  });

  it('has the command `payments`', async () => {
    expect(await inImage(['payments', '--version'])).toMatchObject({
      status: 0,
      stdout: `${contractVersion}\n`,
    });
  });

  it('starts, is healthy and ready, and stops on SIGTERM, with files that it cannot write', async () => {
    // By TCP, because the user of the image cannot enter the folder with the socket of the embedded database.
    await using database = await startLossyDatabase(await createEmptyDatabase());
    const env = await variables(database.url);
    expect((await inImage(image.healthCheck, env)).status).toBe(1);
    const service = startInImage(image, image.command, env);
    try {
      const url = await listening(service);
      expect(await inImage(image.healthCheck, env)).toMatchObject({ status: 0, output: '' });
      const ready = await fetch(`${url}/readyz`);
      expect(ready.status, await ready.text()).toBe(200);
      const docs = await fetch(`${url}/docs/`);
      expect(docs.status).toBe(200);
      const created = await inImage(['payments', 'accounts', 'create', 'default', '--name', 'Default'], env);
      expect(created.status, created.output).toBe(0);
      const written = await inImage(['node', '-e', "fs.writeFileSync('dist/x', '')"], env);
      expect(written.stderr).toContain('EACCES');
      service.process.kill('SIGTERM');
      expect(await service.ended).toMatchObject({ status: 0, signal: null, stderr: '' });
    } finally {
      service.process.kill('SIGKILL');
    }
  });
});
