// Bundles a contract into one document.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle as bundleFile, loadConfig } from '@redocly/openapi-core';
import { ContractFault } from '../../server/kit/contract/load.ts';
import { lintContract } from '../lint/contract.ts';
import { asText } from '../lint/report.ts';
import type { Contract } from './contract.ts';
import { withTables } from './introduction.ts';

/** `unfinished`: how many places `npm run new` has left to describe. */
export type Bundled = { contract: Contract; unfinished: number } | { fault: string };

/** Lints it first. */
export async function bundleContract(project: string): Promise<Bundled> {
  const { problems, unfinished } = await lintContract(project);
  if (problems.length > 0) return { fault: asText(problems, project, process.stdout.isTTY) };
  const contract = await bundle(join(project, 'openapi/openapi.yaml'), project);
  return { contract, unfinished: unfinished.length };
}

/** With the introduction and its tables, as consumers read it. */
export async function bundle(file: string, project: string): Promise<Contract & Record<string, unknown>> {
  const config = await loadConfig({ configPath: join(project, 'redocly.yaml') });
  const bundled = await bundleFile({ ref: file, config }).catch((error: unknown) => {
    throw new ContractFault(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const faults = bundled.problems.filter(({ severity }) => severity === 'error');
  if (faults.length > 0)
    throw new ContractFault([file, ...faults.map(({ message }) => message)].join('\n  '));
  const parsed = bundled.bundle.parsed as Omit<Contract, 'webhooks'> & Partial<Contract>;
  // An API need not have events.
  const contract = { ...parsed, webhooks: parsed.webhooks ?? {} };
  // OpenAPI has no $ref for a description.
  const introduction = join(dirname(file), 'introduction.md');
  if (existsSync(introduction)) contract.info.description = readFileSync(introduction, 'utf8');
  return { ...contract, ...withTables(contract) };
}
