// Encrypts secrets at rest with AES-256-GCM. Each value starts with the ID of its key, so that values of older keys can be
// read after a rotation. The purpose is authenticated: a sealed password cannot be used as a card number.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export type Purpose = 'card' | 'gift-card' | 'webhook' | 'answer';

/** The first key encrypts; all of them decrypt. */
export type Keys = readonly [Buffer, ...Buffer[]];

export interface Vault {
  seal: (text: string, purpose: Purpose) => string;
  open: (sealed: string, purpose: Purpose) => string;
  /** The key that encrypts new values. */
  readonly keyId: string;
  canOpen: (keyId: string) => boolean;
}

export const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('key-id').update(key).digest('hex').slice(0, 8);

/** The ID of the key that encrypted a value. */
export const sealedWith = (sealed: string): string => sealed.replace(/\..*/, '');

/** If the keys are a function, it is called at every use, so that a running service notices a rotation. */
export function createVault(given: Keys | (() => Keys)): Vault {
  const readKeys = typeof given === 'function' ? given : () => given;
  // Removed keys stay here, because a value that was read before the removal may be opened after it.
  const keysById = new Map<string, Buffer>();
  const refresh = (): Keys => {
    const keys = readKeys();
    for (const key of keys) keysById.set(keyIdOf(key), key);
    return keys;
  };
  refresh();
  return {
    get keyId() {
      return keyIdOf(refresh()[0]);
    },
    canOpen(id) {
      refresh();
      return keysById.has(id);
    },
    seal(text, purpose) {
      const [current] = refresh();
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(Buffer.from(text)), cipher.final()]);
      return `${keyIdOf(current)}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, purpose) {
      refresh();
      const id = sealedWith(sealed);
      const key = keysById.get(id);
      if (!key) throw new Error(`A stored value needs key ${id}, which is missing. Add it to CARD_KEY.`);
      const bytes = Buffer.from(sealed.slice(id.length + 1), 'base64url');
      // Without this length, a tag that was cut to four bytes is accepted.
      const options = { authTagLength: 16 };
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), options).setAAD(
        Buffer.from(purpose),
      );
      decipher.setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
    },
  };
}
