// A summary may have any character in it. Code, tests and docs that are made of it keep it as it is.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseContract } from '../../scripts/docs/contract.ts';
import { frame, menusOf } from '../../scripts/docs/shell.ts';
import type { Contract } from '../../scripts/generate/contract.ts';
import { withTables } from '../../scripts/generate/introduction.ts';
import { operationsModule } from '../../scripts/generate/operations.ts';
import { testOf } from '../../scripts/generate/tests.ts';
import { root } from '../../scripts/support/root.ts';

const summary = `List a buyer's "own" cards, \\'each\\' of them, in C:\\`;
let contract: Contract;

const operation = () => {
  const found = contract.paths['/transactions']?.get;
  if (!found) throw new Error('GET /transactions has moved.');
  return found;
};

beforeAll(async () => {
  contract = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8')) as Contract;
  operation().summary = summary;
});

/** Fails when it does not parse. */
function javaScriptOf(code: string): string {
  const { outputText, diagnostics = [] } = ts.transpileModule(code, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
  });
  expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
  return outputText;
}

describe('a summary with quotes and backslashes is kept', () => {
  it('in the table of operations', async () => {
    const code = javaScriptOf(operationsModule(contract));
    const { operations } = (await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`
    )) as { operations: Record<string, { summary: string }> };
    expect(operations.listTransactions?.summary).toBe(summary);
  });

  it('in the test of a new operation', () => {
    const code = testOf(contract, { operation: operation(), isStub: true });
    expect(javaScriptOf(code)).toContain(JSON.stringify(`200 l${summary.slice(1)}`));
  });

  it('in the table of scopes, and in the menu of the docs', () => {
    const info = { ...contract.info, description: '<!-- table: scopes -->' };
    expect(withTables({ ...contract, info }).info.description).toContain(`[${summary}](#operation/`);
    const site = { name: 'API', assets: { style: '', script: '', icon: '', search: '' } };
    const page = { title: 'API', description: '', path: 'index.html', content: '' };
    const menu = menusOf(parseContract(JSON.stringify(contract)), []).integrate;
    const shown = frame(site, page, menu).replaceAll(/&#(\d+);/g, (_, code) =>
      String.fromCharCode(Number(code)),
    );
    expect(shown).toContain(summary);
  });
});
