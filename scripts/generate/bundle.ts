// Lints the contract and bundles it into one file, in parallel to save time.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lintContract } from '../lint/contract.ts';
import { asText } from '../lint/report.ts';
import { redocly } from '../support/redocly.ts';
import type { Contract } from './contract.ts';
import { withTables } from './introduction.ts';

const api = 'payments@v1';

/** `unfinished`: how many places `npm run new` has left to describe. */
export type Bundled = { contract: Contract; unfinished: number } | { fault: string };

export async function bundleContract(project: string): Promise<Bundled> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-'));
  try {
    const file = join(folder, 'openapi.json');
    const [lint, bundle] = await Promise.all([
      lintContract(project),
      redocly(['bundle', api, '-o', file], { cwd: project }),
    ]);
    if (lint.problems.length > 0 || lint.failure !== undefined)
      return { fault: asText(lint, project, process.stdout.isTTY) };
    if (bundle.status !== 0) return { fault: (bundle.stdout + bundle.stderr).trim() };
    const contract = JSON.parse(await readFile(file, 'utf8')) as Contract;
    return { contract: withTables(contract), unfinished: lint.unfinished.length };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
