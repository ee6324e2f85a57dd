// Secrets at rest: AES-256-GCM, with the ID of the key in front, so that keys can be rotated while old values stay readable.
// What a value is for is authenticated with it: a sealed password cannot be passed off as a card number.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export type Purpose = 'card' | 'gift-card' | 'webhook';

export interface Vault {
  seal: (text: string, purpose: Purpose) => string;
  open: (sealed: string, purpose: Purpose) => string;
  /** Which key new values are sealed with. */
  keyId: string;
}

export const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('key-id').update(key).digest('hex').slice(0, 8);

/** The first key seals; every one of them opens. */
export function createVault([current, ...older]: readonly [Buffer, ...Buffer[]]): Vault {
  const keyId = keyIdOf(current);
  const keys = new Map([current, ...older].map((key) => [keyIdOf(key), key]));
  return {
    keyId,
    seal(text, purpose) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${keyId}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, purpose) {
      const [id = '', rest = ''] = sealed.split('.');
      const key = keys.get(id);
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
