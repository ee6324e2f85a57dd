/** The validators that `npm run generate` compiled judge like those that Ajv compiles from the contract at run time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ValidateFunction } from '../../generated/validators.js';
import { compileAt, createAjv } from '../../server/kit/contract/ajv.ts';
import { compiledValidators } from '../../server/kit/contract/compile.ts';
import { loadContract, resolve, valueAt, type Media } from '../../server/kit/contract/load.ts';
import { responseSchemas } from '../../server/kit/contract/responses.ts';
import { runs } from '../support/random.ts';

const contract = loadContract();
const { document } = contract;
const ajv = createAjv(document);
const schemas = responseSchemas(document);
const compiled = compiledValidators(contract);

/** The examples next to a schema; for an item, those of its list. The schema of errors has none of its own, so those of a response are used. */
function examplesOf(key: string, pointer: string): unknown[] {
  const list = key.match(/^(.*) item$/)?.[1];
  if (list !== undefined)
    return examplesOf(list, schemas.get(list) ?? '').flatMap((one) => (one as { items: unknown[] }).items);
  const at = pointer.startsWith('/components/schemas/')
    ? (schemas.get('listTransactions 401') ?? '')
    : pointer;
  const { examples } = valueAt(document, at.replace(/\/schema$/, '')) as Media;
  return Object.values(examples).map((example) => resolve<{ value?: unknown }>(document, example).value);
}

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => pathsIn(item, [...path, key]))];
}

/** A copy with one place replaced, or removed if `change` is undefined. */
function edited(value: unknown, [key, ...rest]: string[], change: unknown): unknown {
  if (key === undefined) return change;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  const item = edited(copy[key], rest, change);
  if (item === undefined && !Array.isArray(copy)) Reflect.deleteProperty(copy, key);
  else copy[key] = item;
  return copy;
}

const verdict = (validate: ValidateFunction | undefined, value: unknown) => ({
  valid: validate?.(value),
  errors: (validate?.errors ?? []).map(({ instancePath, keyword, message }) => [
    instancePath,
    keyword,
    message,
  ]),
});

const values = fc.oneof(
  fc.constantFrom(undefined, null, '', -1, 2 ** 53, 1.5, true, [], {}, [null], { a: 1 }),
  fc.constantFrom(
    '2026-02-30T00:00:00Z',
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00+01',
    'nowhere@',
    'x',
  ),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.integer(),
);

describe('the compiled validators', () => {
  test('are there for the generated contract, one for each schema', () => {
    expect([...(compiled?.keys() ?? [])]).toEqual([...schemas.keys()]);
  });

  test('are not used for another contract', () => {
    expect(compiledValidators({ ...contract, text: `${contract.text} ` })).toBeUndefined();
  });

  // Many operations share a response.
  const keys = new Map([...schemas].map(([key, pointer]) => [pointer, key]));
  test.each([...keys].map(([pointer, key]) => [key, pointer]))(
    '%s: the same verdict and the same errors',
    (key, pointer) => {
      const examples = examplesOf(key, pointer);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples)
        expect(verdict(compiled?.get(key), example)).toEqual({ valid: true, errors: [] });
      const places = fc.constantFrom(
        ...examples.flatMap((example) => pathsIn(example).map((path) => ({ example, path }))),
      );
      fc.assert(
        fc.property(places, values, ({ example, path }, change) => {
          const value = edited(example, path, change);
          expect(verdict(compiled?.get(key), value)).toEqual(verdict(compileAt(ajv, pointer), value));
        }),
        { numRuns: runs(200) },
      );
    },
  );
});
