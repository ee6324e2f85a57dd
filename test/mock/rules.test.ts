// The few rules that the mock has in its own words, because the walls keep it from the server's: held equal here.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isScope, reaches } from '../../mock/http/token.ts';
import * as ours from '../../mock/outcomes/cards.ts';
import { mockOperations } from '../../mock/operations.ts';
import { operations, type Operation } from '../../generated/operations.ts';
import { loadContract } from '../../server/contract/load.ts';
import * as cards from '../../server/domain/cards.ts';
import * as scopes from '../../server/domain/scopes.ts';

const digits = (minLength: number, maxLength: number) =>
  fc.string({
    unit: fc.constantFrom('0', '1', '2', '3', '4', '5', '6', '7', '8', '9'),
    minLength,
    maxLength,
  });
// Numbers of the schemes' own ranges are rare among random ones.
const starts = [
  '4',
  '51',
  '2221',
  '34',
  '36',
  '6011',
  '62',
  '50',
  '5067',
  '2200',
  '606282',
  '637095',
  '35',
  '9',
];
const number = fc
  .tuple(fc.constantFrom(...starts), digits(13, 19))
  .map(([start, rest]) => (start + rest).slice(0, Math.max(13, rest.length)));
const date = fc
  .tuple(fc.integer({ min: 0, max: 19 }), fc.integer({ min: 0, max: 99 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join('/'));

describe('cards', () => {
  it('the same check digit, BIN and scheme as the server', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(number, (text) => {
        expect(ours.passesLuhn(text)).toBe(cards.passesLuhn(text));
        expect(ours.binOf(text)).toBe(cards.binOf(text));
        expect(ours.schemeOf(text)).toBe(cards.schemeOf(text));
        seen.add(ours.schemeOf(text));
      }),
      { numRuns: 3_000 },
    );
    expect(seen.size).toBeGreaterThan(8);
  });

  it('the same dates have passed as for the server', () => {
    fc.assert(
      fc.property(date, fc.date({ noInvalidDate: true }), (text, now) => {
        expect(ours.hasExpired(text, now)).toBe(cards.hasExpired(text, now));
      }),
    );
    const edge = Date.UTC(2030, 0, 1);
    expect([edge - 1, edge].map((time) => ours.hasExpired('12/29', new Date(time)))).toEqual([false, true]);
  });
});

describe('scopes', () => {
  const words = [
    'embed',
    '*.read',
    '*.write',
    'transactions.read',
    'transactions.write',
    'gift-cards.read',
    '*',
    'a.b',
  ];

  it('the same form and the same reach as at the server', () => {
    expect(words.map(isScope)).toEqual(words.map(scopes.isScope));
    fc.assert(
      fc.property(
        fc.subarray(words),
        fc.constantFrom(...(Object.values(operations) as Operation[])),
        (given, { scopes: needed }) => {
          expect(reaches(given, needed)).toBe(scopes.isAllowed(needed, given, ['*.read', '*.write']));
        },
      ),
    );
  });
});

describe('the operations that the mock reads from the contract', () => {
  it('are those of the generated table', () => {
    const pick = ({
      id,
      method,
      path,
      scopes: needed,
      merchantScope,
      statuses,
    }: Omit<Operation, 'summary'>) => ({
      ...{ id, method, path, scopes: needed, merchantScope, statuses },
    });
    const read = mockOperations(loadContract().document);
    expect(read.map((operation) => pick({ ...operations[operation.id], ...operation }))).toEqual(
      Object.values(operations).map(pick),
    );
  });
});
