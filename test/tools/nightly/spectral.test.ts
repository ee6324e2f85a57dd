// Spectral finds no error in the sources of the contract, with its own rules for OpenAPI.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { root, run } from '../../support/processes.ts';

interface Finding {
  code: string;
  message: string;
  path: string[];
  severity: number;
}

it('reads openapi/openapi.yaml', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spectral-'));
  const ruleset = join(folder, 'ruleset.yaml');
  await writeFile(ruleset, 'extends: [spectral:oas]\n');
  const source = 'openapi/openapi.yaml';
  const call = ['--yes', '@stoplight/spectral-cli@6.16.3', 'lint', source, '--ruleset', ruleset];
  const { stdout, output } = await run('npx', [...call, '--format', 'json', '--quiet']);
  await rm(folder, { recursive: true });
  expect(stdout, output).toMatch(/^\[/);
  const errors = (JSON.parse(stdout) as Finding[]).filter(({ severity }) => severity === 0);
  // Its schema for OpenAPI 3.1 lacks `$ref` in a path, which the specification has: github.com/stoplightio/spectral/issues/2655.
  const { paths } = parse(await readFile(join(root, source), 'utf8')) as { paths: Record<string, object> };
  const isKnown = ({ code, path: [kind, name = '', ...rest] }: Finding) =>
    code === 'oas3-schema' && kind === 'paths' && rest.length === 0 && '$ref' in (paths[name] ?? {});
  expect(errors.filter((error) => !isKnown(error))).toEqual([]);
});
