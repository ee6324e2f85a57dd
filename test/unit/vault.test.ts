// Secrets at rest: what was stored stays readable through rotations, and nothing else is ever accepted.
import { createDecipheriv, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createVault,
  keyIdOf,
  sealedWith,
  type Keys,
  type Place,
  type Purpose,
  type Sealing,
} from '../../server/domain/vault.ts';

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);
const place: Place = {
  purpose: 'card-number',
  owner: 'default',
  id: '0a1b2c3d-0003-4000-8000-000000000001',
};
const purposes: Purpose[] = [
  ...(['card-number', 'gift-card-number', 'gift-card-pin'] as const),
  ...(['webhook-password', 'webhook-secret', 'answer'] as const),
];

/** What release 1.1 does, written down again. */
function openAsBefore(sealed: string, purpose: string): string {
  const bytes = Buffer.from(sealed.slice('14bab180.'.length), 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', first, bytes.subarray(0, 12), { authTagLength: 16 })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(12, 28));
  return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
}

describe('the form of versions before 1.2', () => {
  // Sealed by release 1.0 with the key of ones. A change of the format would make every stored card unreadable.
  const stored = '14bab180.0N1EAIK3HPUtu1-wf4rekrY5OqDjj4cwbX4ofx5IzHfdKr-zYuswEZgKCvtgOI0';

  it('is still opened until all values are bound, and then refused', () => {
    expect(keyIdOf(first)).toBe('14bab180');
    const vault = createVault([first]);
    for (const sealing of ['unbound', 'binding'] as const)
      expect(vault.under(sealing).open(stored, place)).toBe('4111111111111111 é');
    expect(() => vault.under('bound').open(stored, place)).toThrow('not bound to its place');
  });

  it('is written until a rotation, for older versions that run beside this one', () => {
    const olderPurposes = ['card', 'gift-card', 'gift-card', 'webhook', 'webhook', 'answer'];
    const { seal } = createVault([first]).under('unbound');
    for (const [index, purpose] of purposes.entries())
      expect(
        openAsBefore(seal('4111111111111111 é', { ...place, purpose }), olderPurposes[index] ?? ''),
      ).toBe('4111111111111111 é');
    const bound = createVault([first]).under('binding').seal('x', place);
    expect(() => openAsBefore(bound, 'card')).toThrow();
  });

  it('was bound to its purpose only', () => {
    const { open } = createVault([first]).under('unbound');
    expect(open(stored, { ...place, owner: 'marketplace', id: randomUUID() })).toBe('4111111111111111 é');
    expect(() => open(stored, { ...place, purpose: 'webhook-secret' })).toThrow();
  });
});

describe('a bound value', () => {
  // Sealed by release 1.2 with the key of ones.
  const stored = '14bab180.2.l06T7RQ92-pYnQIi-FOvjDqZK7EGBwv8CCO3Z1EBoEDS3Z1-jK0oUKRPSV3Y-AU';

  it('of the first release that had it is still opened', () => {
    expect(createVault([first]).under('bound').open(stored, place)).toBe('4111111111111111 é');
  });

  it('is AES-256-GCM: nonce of 12 bytes, tag of 16, content, and the place authenticated', () => {
    const sealed = createVault([first]).under('bound').seal('4111111111111111 é', place);
    const bytes = Buffer.from(sealed.slice('14bab180.2.'.length), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', first, bytes.subarray(0, 12))
      .setAAD(Buffer.from('["card-number","default","0a1b2c3d-0003-4000-8000-000000000001"]'))
      .setAuthTag(bytes.subarray(12, 28));
    const text = decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
    expect(text).toBe('4111111111111111 é');
  });

  it('opens in its place and in no other, in whatever the places differ', () => {
    const { seal, open } = createVault([first]).under('bound');
    const places: fc.Arbitrary<Place> = fc.record({
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
      { numRuns: 500 },
    );
  });

  it('opens however the ID of its row is written', () => {
    const { seal, open } = createVault([first]).under('bound');
    expect(open(seal('x', { ...place, id: place.id.toUpperCase() }), place)).toBe('x');
  });

  it('is not accepted as an unbound one, nor the reverse', () => {
    const vault = createVault([first]);
    const bound = vault.under('bound').seal('x', place);
    const unbound = vault.under('unbound').seal('x', place);
    for (const sealing of ['unbound', 'binding', 'bound'] as const) {
      const { open } = vault.under(sealing);
      expect(() => open(bound.replace('.2.', '.'), place)).toThrow();
      expect(() => open(unbound.replace('.', '.2.'), place)).toThrow();
    }
  });
});

describe.each<[string, Sealing]>([
  ['unbound', 'unbound'],
  ['bound', 'bound'],
])('what is no sealed value, where values are %s', (_, sealing) => {
  const vault = createVault([first]);
  const { seal, open } = vault.under(sealing);
  const mark = sealing === 'bound' ? '2.' : '';

  it('a value without content, or without a key', () => {
    for (const text of [`${vault.keyId}.${mark}`, vault.keyId]) expect(() => open(text, place)).toThrow();
    const bare = seal('x', place).slice(vault.keyId.length + 1);
    for (const text of [bare, `.${bare}`, `${vault.keyId}${bare}`, '', '.'])
      expect(() => open(text, place)).toThrow(/needs key .*, which is missing\. Add it to CARD_KEY\.$/);
  });

  it('a tag that was cut off is not accepted, however little of it is left', () => {
    const start = `${vault.keyId}.${mark}`;
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

describe('what the database says', () => {
  it('is asked until all values are bound, and not after that', async () => {
    const vault = createVault([first]);
    const old = vault.under('unbound').seal('x', place);
    const answers: Sealing[] = ['unbound', 'binding', 'bound'];
    const asked: Sealing[] = [];
    const ask = () => {
      const answer = answers.shift() ?? 'unbound';
      asked.push(answer);
      return Promise.resolve(answer);
    };
    expect((await vault.sealer(ask)).seal('x', place)).not.toContain('.2.');
    const during = await vault.sealer(ask);
    expect(during.seal('x', place)).toContain('.2.');
    for (let time = 0; time < 3; time += 1)
      expect((await vault.sealer(ask)).seal('x', place)).toContain('.2.');
    expect(asked).toEqual(['unbound', 'binding', 'bound']);
    // Who asked before the end of the rotation may have read the value before it, too.
    expect(during.open(old, place)).toBe('x');
  });

  it('also where an earlier question is answered later', async () => {
    const vault = createVault([first]);
    let answerLate: (sealing: Sealing) => void = () => undefined;
    const late = vault.sealer(() => new Promise((resolve) => (answerLate = resolve)));
    await vault.sealer(() => Promise.resolve('bound'));
    answerLate('unbound');
    await late;
    const { seal } = await vault.sealer(() => Promise.resolve('unbound'));
    expect(seal('x', place)).toContain('.2.');
  });
});

describe('rotation', () => {
  const sealing = 'bound';
  const sealWith = (...keys: Keys) => createVault(keys).under(sealing).seal('x', place);

  it('the first key seals, and all of them open', () => {
    const old = createVault([first]);
    const both = createVault([second, first]);
    expect(both.keyId).toBe(keyIdOf(second));
    expect(sealedWith(sealWith(second, first))).toBe(keyIdOf(second));
    expect(sealedWith(sealWith(first))).toBe(keyIdOf(first));
    expect(both.under(sealing).open(sealWith(first), place)).toBe('x');
    expect([first, second].map((key) => both.canOpen(keyIdOf(key)))).toEqual([true, true]);
    expect([first, second].map((key) => old.canOpen(keyIdOf(key)))).toEqual([true, false]);
  });

  describe('while the service runs', () => {
    const rotating = () => {
      let keys: Keys = [first];
      const vault = createVault(() => keys);
      return { vault, ...vault.under(sealing), rotateTo: (...given: Keys) => (keys = given) };
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
      expect(createVault([second]).under(sealing).open(seal('x', place), place)).toBe('x');
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
