// What a failed test says.
import { expect, it } from 'vitest';
import { until } from '../support/webhooks.ts';

it('an assertion shows what a large record has, in its message too', () => {
  const record = Object.fromEntries(Array.from({ length: 27 }, (_, nth) => [`field_${nth}`, nth]));
  expect(() => {
    expect(record).toEqual({ ...record, field_26: 'other' });
  }).toThrow(/field_26: 26[^]*field_26: 'other'/);
});

it('what was waited for in vain is named', async () => {
  await expect(until(() => Promise.resolve(false), 0)).rejects.toThrow(
    /^Not within 0 s: .*Promise\.resolve\(false\)/,
  );
});
