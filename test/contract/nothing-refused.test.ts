// Proves entries of openapi/released/accepted.yaml: patterns and types that were written differently before accept the same.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileAt, createAjv } from '../../server/contract/ajv.ts';
import { loadContract } from '../../server/contract/load.ts';

const ajv = createAjv(loadContract().document);

describe('digits', () => {
  const old: [string, string, RegExp][] = [
    ['an expiration date', '/components/schemas/ExpirationDate', /^\d{2}\/\d{2}$/u],
    ['a security code', '/components/schemas/PaymentMethodCreate/properties/security_code', /^\d{3,4}$/u],
  ];
  const texts = fc.oneof(
    fc.stringMatching(/^\d{2}\/\d{2}$/u),
    fc.stringMatching(/^\d{3,4}$/u),
    fc.stringMatching(/^\d{0,5}\/?\d{0,3}$/u),
    // Digits of other scripts, which `\d` matches in some languages but not in JavaScript.
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789/١٢३४５６𝟗\n')), maxLength: 6 }),
  );

  it.each(old)('of %s are what they were as \\d', (_name, pointer, pattern) => {
    const accepts = compileAt(ajv, pointer);
    let accepted = 0;
    fc.assert(
      fc.property(texts, (text) => {
        if (accepts(text)) accepted += 1;
        expect(accepts(text)).toBe(pattern.test(text));
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});

describe('gift card items', () => {
  const ref = (name: string) => ({ $ref: `contract#/components/schemas/${name}` });
  const before = ajv.compile({ oneOf: [ref('GiftCardBalanceNew'), ref('GiftCardBalanceStored')] });
  const request = compileAt(ajv, '/components/schemas/GiftCardBalanceRequest');
  const card = fc.record(
    {
      number: fc.constantFrom<unknown>('9999000050001234', '1', 5, null),
      pin: fc.constantFrom<unknown>('1234', '', null),
      id: fc.constantFrom<unknown>('356d56e5-fe16-42ae-97ee-8d55d846ae2e', 'x', null),
      unicorn: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  const good = fc.constantFrom(
    { number: '9999000050001234', pin: '1234' },
    { id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e' },
  );

  it('are accepted as before they were called objects', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(card, good, fc.jsonValue()), (item) => {
        if (before(item)) accepted += 1;
        expect(request({ items: [item] })).toBe(before(item));
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});
