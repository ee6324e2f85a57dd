// Secrets at rest: what was stored stays readable through rotations, and nothing else is ever accepted.
import { createDecipheriv, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVault, keyIdOf, sealedWith, type Keys, type Binding } from '../../server/kit/secrets/vault.ts';

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);
const place: Binding = {
  purpose: 'card-number',
  owner: 'default',
  id: '0a1b2c3d-0003-4000-8000-000000000001',
};
const purposes: string[] = [
  ...(['card-number', 'gift-card-number', 'gift-card-pin'] as const),
  ...(['webhook-password', 'webhook-secret', 'answer', 'digest-key'] as const),
];

describe('a sealed value', () => {
  // Sealed with the key of ones. A change of the format would make every stored card unreadable.
  const stored = '14bab180.l06T7RQ92-pYnQIi-FOvjDqZK7EGBwv8CCO3Z1EBoEDS3Z1-jK0oUKRPSV3Y-AU';

  it('stays as it is', () => {
    expect(keyIdOf(first)).toBe('14bab180');
    expect(createVault(() => [first]).open(stored, place)).toBe('4111111111111111 é');
  });

  it('is AES-256-GCM: nonce of 12 bytes, tag of 16, content, and the place authenticated', () => {
    const sealed = createVault(() => [first]).seal('4111111111111111 é', place);
    const bytes = Buffer.from(sealed.slice('14bab180.'.length), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', first, bytes.subarray(0, 12))
      .setAAD(Buffer.from('["card-number","default","0a1b2c3d-0003-4000-8000-000000000001"]'))
      .setAuthTag(bytes.subarray(12, 28));
    const text = decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
    expect(text).toBe('4111111111111111 é');
  });

  it('opens in its place and in no other, in whatever the places differ', () => {
    const { seal, open } = createVault(() => [first]);
    const places: fc.Arbitrary<Binding> = fc.record({
      purpose: fc.constantFrom(...purposes),
      // Separators and the like, to find parts that are joined ambiguously.
      owner: fc.option(fc.string({ unit: fc.constantFrom('a', '"', ',', '[', ']', '\\'), maxLength: 4 })),
      id: fc.constantFrom(randomUUID(), randomUUID()),
    });
    fc.assert(
      fc.property(places, places, (one, other) => {
        const isSame = one.purpose === other.purpose && one.owner === other.owner && one.id === other.id;
        const sealed = seal('x', one);
        expect(open(sealed, one)).toBe('x');
        if (isSame) expect(open(sealed, other)).toBe('x');
        else expect(() => open(sealed, other)).toThrow();
      }),
    );
  });

  it('is another each time, for the same text in the same place', () => {
    const { seal } = createVault(() => [first]);
    expect(seal('x', place)).not.toBe(seal('x', place));
  });

  it('opens however the ID of its row is written', () => {
    const { seal, open } = createVault(() => [first]);
    expect(open(seal('x', { ...place, id: place.id.toUpperCase() }), place)).toBe('x');
  });
});

describe('what is no sealed value', () => {
  const vault = createVault(() => [first]);
  const { seal, open } = vault;

  it('a value without content, or without a key', () => {
    for (const text of [`${vault.keyId}.`, vault.keyId]) expect(() => open(text, place)).toThrow();
    const bare = seal('x', place).slice(vault.keyId.length + 1);
    for (const text of [bare, `.${bare}`, `${vault.keyId}${bare}`, '', '.'])
      expect(() => open(text, place)).toThrow(
        /needs key .*, which is missing\. Add it to CARD_KEY \(or CARD_KEY_FILE\)\.$/,
      );
  });

  it('a tag that was cut off is not accepted, however little of it is left', () => {
    const start = `${vault.keyId}.`;
    const sealed = Buffer.from(seal('', place).slice(start.length), 'base64url');
    expect(sealed).toHaveLength(28);
    for (let length = 0; length < sealed.length; length += 1) {
      const cut = sealed.subarray(0, length).toString('base64url');
      expect(() => open(`${start}${cut}`, place)).toThrow();
    }
    expect(open(`${start}${sealed.toString('base64url')}`, place)).toBe('');
  });

  it('a value with something after it', () => {
    expect(() => open(`${seal('x', place)}.AAAA`, place)).toThrow();
  });
});

describe('rotation', () => {
  const sealWith = (...keys: Keys) => createVault(() => keys).seal('x', place);

  it('the first key seals, and all of them open', () => {
    const old = createVault(() => [first]);
    const both = createVault(() => [second, first]);
    expect(both.keyId).toBe(keyIdOf(second));
    expect(sealedWith(sealWith(second, first))).toBe(keyIdOf(second));
    expect(sealedWith(sealWith(first))).toBe(keyIdOf(first));
    expect(both.open(sealWith(first), place)).toBe('x');
    expect([first, second].map((key) => both.canOpen(keyIdOf(key)))).toEqual([true, true]);
    expect([first, second].map((key) => old.canOpen(keyIdOf(key)))).toEqual([true, false]);
  });

  describe('while the service runs', () => {
    const rotating = () => {
      let keys: Keys = [first];
      const vault = createVault(() => keys);
      return { vault, seal: vault.seal, open: vault.open, rotateTo: (...given: Keys) => (keys = given) };
    };

    it('every use notices the new key', () => {
      const uses: ((running: ReturnType<typeof rotating>) => unknown)[] = [
        ({ vault }) => vault.keyId === keyIdOf(second),
        ({ vault }) => vault.canOpen(keyIdOf(second)),
        ({ seal }) => sealedWith(seal('x', place)) === keyIdOf(second),
        ({ open }) => open(sealWith(second), place) === 'x',
      ];
      for (const use of uses) {
        const running = rotating();
        running.rotateTo(second, first);
        expect(use(running)).toBe(true);
      }
    });

    it('a new value is sealed with the key that it names', () => {
      const { seal, rotateTo } = rotating();
      rotateTo(second);
      expect(createVault(() => [second]).open(seal('x', place), place)).toBe('x');
    });

    it('a value that was read before its key was removed is still opened', () => {
      const { vault, seal, open, rotateTo } = rotating();
      const sealed = seal('x', place);
      rotateTo(second);
      expect(open(sealed, place)).toBe('x');
      expect(vault.canOpen(keyIdOf(first))).toBe(true);
    });
  });
});
