// Runs the code that readers copy, in every language that can be installed here: the samples of the reference, unchanged but for
// the port.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forReaders, parseContract } from '../../scripts/docs/contract.ts';
import { missingFor, runCode } from '../support/languages.ts';
import { root } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = await mkdtemp(join(tmpdir(), 'samples-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function write(file: string, code: string): Promise<void> {
  const client = JSON.stringify(join(root, 'client/index.ts'));
  const changed = code
    .replaceAll('http://127.0.0.1:8080', service.url)
    .replace("'payments-service-client'", client);
  await writeFile(join(folder, file), changed);
}

describe('the samples of the reference', () => {
  const endings = { curl: 'sh', TypeScript: 'mts', Python: 'py', PHP: 'php', Go: 'go' };
  it.for(Object.entries(endings))('call the service in %s', async ([lang, ending], { skip }) => {
    const missing = missingFor(ending);
    skip(missing !== undefined, `${missing} is not installed`);
    const contract = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
    const { paths } = forReaders(contract);
    for (const [operation, answer] of [
      [paths['/transactions']?.get, /type\W+transaction\W/],
      [paths['/payment-methods']?.post, /status\W+succeeded\W/],
    ] as const) {
      const { source = '' } = operation?.['x-codeSamples']?.find((sample) => sample.lang === lang) ?? {};
      const file = `${operation?.operationId}.${ending}`;
      await write(file, source);
      const env = { TOKEN: service.token('*.read', '*.write') };
      const { status, stdout, output } = await runCode([file], { cwd: folder, env });
      expect(status, output).toBe(0);
      expect(answer.test(stdout), stdout.slice(0, 1_000)).toBe(true);
    }
  });
});
