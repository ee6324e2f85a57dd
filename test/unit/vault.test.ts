// Secrets at rest: what was stored stays readable through rotations, and nothing else is ever accepted.
import { createDecipheriv } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createVault, keyIdOf, sealedWith, type Keys } from '../../server/domain/vault.ts';

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);

describe('the format at rest', () => {
  // Sealed by release 1.0 with the key of ones. A change of the format would make every stored card unreadable.
  const stored = '14bab180.0N1EAIK3HPUtu1-wf4rekrY5OqDjj4cwbX4ofx5IzHfdKr-zYuswEZgKCvtgOI0';

  it('values of the first release are still opened', () => {
    expect(keyIdOf(first)).toBe('14bab180');
    expect(createVault([first]).open(stored, 'card')).toBe('4111111111111111 é');
  });

  it('is AES-256-GCM: nonce of 12 bytes, tag of 16, content, and the purpose authenticated', () => {
    const sealed = createVault([first]).seal('4111111111111111 é', 'webhook');
    const bytes = Buffer.from(sealed.slice('14bab180.'.length), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', first, bytes.subarray(0, 12))
      .setAAD(Buffer.from('webhook'))
      .setAuthTag(bytes.subarray(12, 28));
    const text = decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
    expect(text).toBe('4111111111111111 é');
  });
});

describe('what is no sealed value', () => {
  const vault = createVault([first]);

  it('a value without content, or without a key', () => {
    for (const text of [`${vault.keyId}.`, vault.keyId]) expect(() => vault.open(text, 'card')).toThrow();
    const bare = vault.seal('x', 'card').slice(vault.keyId.length + 1);
    for (const text of [bare, `.${bare}`, `${vault.keyId}${bare}`, '', '.'])
      expect(() => vault.open(text, 'card')).toThrow(
        /needs key .*, which is missing\. Add it to CARD_KEY\.$/,
      );
  });

  it('a tag that was cut off is not accepted, however little of it is left', () => {
    const sealed = Buffer.from(vault.seal('', 'card').slice(vault.keyId.length + 1), 'base64url');
    for (let length = 0; length < sealed.length; length += 1) {
      const cut = sealed.subarray(0, length).toString('base64url');
      expect(() => vault.open(`${vault.keyId}.${cut}`, 'card')).toThrow();
    }
  });

  it('a value with something after it', () => {
    expect(() => vault.open(`${vault.seal('x', 'card')}.AAAA`, 'card')).toThrow();
  });
});

describe('rotation', () => {
  it('the first key seals, and all of them open', () => {
    const old = createVault([first]);
    const both = createVault([second, first]);
    expect(both.keyId).toBe(keyIdOf(second));
    expect(sealedWith(both.seal('x', 'card'))).toBe(keyIdOf(second));
    expect(sealedWith(old.seal('x', 'card'))).toBe(keyIdOf(first));
    expect(both.open(old.seal('x', 'card'), 'card')).toBe('x');
    expect([first, second].map((key) => both.canOpen(keyIdOf(key)))).toEqual([true, true]);
    expect([first, second].map((key) => old.canOpen(keyIdOf(key)))).toEqual([true, false]);
  });

  describe('while the service runs', () => {
    const rotating = () => {
      let keys: Keys = [first];
      return { vault: createVault(() => keys), rotateTo: (...given: Keys) => (keys = given) };
    };

    it('every use notices the new key', () => {
      const uses: ((running: ReturnType<typeof rotating>) => unknown)[] = [
        ({ vault }) => vault.keyId === keyIdOf(second),
        ({ vault }) => vault.canOpen(keyIdOf(second)),
        ({ vault }) => sealedWith(vault.seal('x', 'card')) === keyIdOf(second),
        ({ vault }) => vault.open(createVault([second]).seal('x', 'card'), 'card') === 'x',
      ];
      for (const use of uses) {
        const running = rotating();
        running.rotateTo(second, first);
        expect(use(running)).toBe(true);
      }
    });

    it('a new value is sealed with the key that it names', () => {
      const { vault, rotateTo } = rotating();
      rotateTo(second);
      expect(createVault([second]).open(vault.seal('x', 'card'), 'card')).toBe('x');
    });

    it('a value that was read before its key was removed is still opened', () => {
      const { vault, rotateTo } = rotating();
      const sealed = vault.seal('x', 'card');
      rotateTo(second);
      expect(vault.open(sealed, 'card')).toBe('x');
      expect(vault.canOpen(keyIdOf(first))).toBe(true);
    });
  });
});
