// Secrets at rest: AES-256-GCM, with the ID of the key in front, so that keys can be rotated while old values stay readable.
// What a value is for is authenticated with it: a sealed password cannot be passed off as a card number.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export type Purpose = 'card' | 'gift-card' | 'webhook';

/** The first key seals; every one of them opens. */
export type Keys = readonly [Buffer, ...Buffer[]];

export interface Vault {
  seal: (text: string, purpose: Purpose) => string;
  open: (sealed: string, purpose: Purpose) => string;
  /** Which key new values are sealed with. */
  readonly keyId: string;
  canOpen: (keyId: string) => boolean;
}

export const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('key-id').update(key).digest('hex').slice(0, 8);

/** Which key a value was sealed with. */
export const sealedWith = (sealed: string): string => sealed.split('.', 1)[0] ?? '';

/** A function is asked at every use, so that a rotation reaches a service that runs. */
export function createVault(given: Keys | (() => Keys)): Vault {
  const ask = typeof given === 'function' ? given : () => given;
  // Only grows: what was read before a key was dropped may be opened a moment later.
  const known = new Map<string, Buffer>();
  let seen: Keys | undefined;
  let keyId = '';
  const learn = (): Keys => {
    const keys = ask();
    if (keys !== seen) {
      for (const key of keys) known.set(keyIdOf(key), key);
      seen = keys;
      keyId = keyIdOf(keys[0]);
    }
    return keys;
  };
  learn();
  return {
    get keyId() {
      learn();
      return keyId;
    },
    canOpen(id) {
      learn();
      return known.has(id);
    },
    seal(text, purpose) {
      const [current] = learn();
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${keyId}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, purpose) {
      learn();
      const [id = '', rest = ''] = sealed.split('.');
      const key = known.get(id);
      if (!key) throw new Error(`No key ${id} to open what is stored with it. Add it to CARD_KEY.`);
      const bytes = Buffer.from(rest, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(
        Buffer.from(purpose),
      );
      decipher.setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
    },
  };
}
