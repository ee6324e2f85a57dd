// Consumers generate clients with tools of their own. What Hey API makes of the contract compiles under `strict` and pages
// through a live list. Orval and swagger-typescript-api were tried by hand; those write a null cursor as `cursor=null`.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compile } from '../../support/compiler.ts';
import { installed } from '../../support/installed.ts';
import { root, run } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';

// As a consumer would write it: null for the first page, then whatever the answer has.
const program = `import { client } from './client/client.gen';
import { checkGiftCardBalances, listTransactions } from './client/sdk.gen';
import type { Transaction, TransactionCollection } from './client/types.gen';

// No index signature, which would accept a misspelt field.
export const hasAnyField: string extends keyof Transaction ? true : false = false;

export async function listAll(baseUrl: string, token: string): Promise<Transaction[]> {
  client.setConfig({ baseUrl, auth: token });
  const found: Transaction[] = [];
  let cursor: string | null = null;
  do {
    const answer = await listTransactions({ query: { cursor, limit: 7 }, throwOnError: true });
    const page: TransactionCollection = answer.data;
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

export async function balances(): Promise<(number | null)[]> {
  const items = [{ number: '9999000050001234', pin: '1' }, { id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' }];
  const { data } = await checkGiftCardBalances({ body: { items }, throwOnError: true });
  return data.items.map(({ balance }) => balance);
}
`;

interface Program {
  listAll: (baseUrl: string, token: string) => Promise<{ id: string }[]>;
  balances: () => Promise<(number | null)[]>;
}

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-client-'));
  const generator = join(await installed('@hey-api/openapi-ts', '0.95.0', 'typescript@5.9.3'), 'bin/run.js');
  const contract = join(root, 'site/openapi.json');
  const made = await run(process.execPath, [generator, '-i', contract, '-o', join(folder, 'client'), '-s']);
  expect(made).toMatchObject({ status: 0 });
  await writeFile(join(folder, 'program.ts'), program);
  service = await startTestService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('compiles under strict', async () => {
  const compilerOptions = {
    ...{ strict: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
    ...{ lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
    // What TypeScript brings along is not the generator's.
    skipLibCheck: true,
  };
  expect(await compile(folder, [join(folder, 'program.ts')], { compilerOptions })).toEqual([]);
});

it('pages through a live list from a null cursor, and sends both kinds of gift cards', async () => {
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [join(folder, 'program.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    logLevel: 'error',
  });
  const { listAll, balances } = (await import(pathToFileURL(outfile).href)) as Program;
  const found = await listAll(service.url, service.token('*.read'));
  const { body } = await service.call('GET', '/transactions?limit=500', { token: service.token('*.read') });
  const ids = (body as { items: { id: string }[] }).items.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(14);
  expect(found.map(({ id }) => id)).toEqual(ids);
  expect(await balances()).toHaveLength(2);
});
