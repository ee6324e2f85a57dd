import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFingerprints, shownFingerprint, versionOf } from '../../server/domain/fingerprints.ts';

const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const { make } = createFingerprints([key]);
const number = '4111111111111111';
const account = () => fc.string({ minLength: 1, maxLength: 20 });
const card = () => fc.stringMatching(/^[0-9]{13,19}$/);

// Instances of two versions must agree, and stored ones must stay comparable.
it('stay as they are', () => {
  expect(make('default', number)).toBe(
    '9442fb2e.37674b724f27087171a0dfe7716db8de6932dd69571f5f786acf32bfd61118d8',
  );
});

it('are equal for the same card of an account, and for nothing else', () => {
  fc.assert(
    fc.property(account(), card(), account(), card(), (one, first, two, second) => {
      expect(make(one, first)).toBe(make(one, first));
      expect(make(one, first) === make(two, second)).toBe(one === two && first === second);
    }),
  );
});

it('name the key that made them, and differ with it', () => {
  const rotated = createFingerprints([other, key]);
  const { version } = createFingerprints([key]);
  expect(versionOf(make('default', number))).toBe(version);
  expect(rotated.older).toEqual([version]);
  expect(rotated.version).not.toBe(version);
  const [before, after] = [make('default', number), rotated.make('default', number)];
  expect(versionOf(after)).toBe(rotated.version);
  expect(shownFingerprint(after)).not.toBe(shownFingerprint(before));
});

it('are shown without their version', () => {
  expect(shownFingerprint(make('default', number))).toMatch(/^[0-9a-f]{64}$/);
  expect([shownFingerprint(null), shownFingerprint(undefined)]).toEqual([null, null]);
});
