// The contract names the kinds of faults in `details[].type`. They are texts in the code, so this compares both.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleFile, loadContract } from '../../server/kit/contract/load.ts';

const literal = /'(value_error\.[a-z_.]+)'/g;

it('the contract names every kind of fault that the service tells', () => {
  const sources = readdirSync('server', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join('server', file), 'utf8'));
  const told = new Set(sources.flatMap((text) => [...text.matchAll(literal)].map(([, kind]) => kind)));
  const { schemas } = loadContract(bundleFile).document.components;
  const { examples = [] } = (schemas?.ErrorDetailType ?? {}) as { examples?: string[] };
  const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'].map(
    (type) => `type_error.${type}`,
  );
  expect(examples.toSorted()).toEqual([...told, ...types].sort());
});
