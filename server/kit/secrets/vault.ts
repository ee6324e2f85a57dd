// Encrypts secrets at rest with AES-256-GCM. Each value starts with the ID of its key, so that values of older keys can be
// read after a rotation. A value is bound to its place: one that is copied into another row does not open there.
// See docs/decisions/0014-bound-values.md.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface Binding {
  /** What the value is for. Part of every sealed value, so it never changes. */
  purpose: string;
  /** The merchant account of the row, null when it is for all accounts. */
  owner: string | null;
  /** The row's ID; of a kept answer, its slot. */
  id: string;
}

/** The first key encrypts; all of them decrypt. */
export type Keys = readonly [Buffer, ...Buffer[]];

export interface Vault {
  seal: (text: string, binding: Binding) => string;
  /** Throws when the value was not sealed for this binding, is damaged, or needs a key that is missing. */
  open: (sealed: string, binding: Binding) => string;
  readonly keyId: string;
  canOpen: (keyId: string) => boolean;
}

export const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('key-id').update(key).digest('hex').slice(0, 8);

export const sealedWith = (sealed: string): string => sealed.replace(/\..*/, '');

const cipherName = 'aes-256-gcm';
const ivLength = 12;
// Said in both directions: without it, a tag that was cut to four bytes is accepted.
const authTagLength = 16;

const boundTo = ({ purpose, owner, id }: Binding): Buffer =>
  // PostgreSQL shows UUIDs in lower case, however they were written.
  Buffer.from(JSON.stringify([purpose, owner, id.toLowerCase()]));

function encrypt(key: Buffer, text: string, authenticated: Buffer): string {
  const iv = randomBytes(ivLength);
  const cipher = createCipheriv(cipherName, key, iv, { authTagLength }).setAAD(authenticated);
  const body = Buffer.concat([cipher.update(Buffer.from(text)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
}

function decrypt(key: Buffer, content: string, authenticated: Buffer): string {
  const bytes = Buffer.from(content, 'base64url');
  const iv = bytes.subarray(0, ivLength);
  const decipher = createDecipheriv(cipherName, key, iv, { authTagLength }).setAAD(authenticated);
  decipher.setAuthTag(bytes.subarray(ivLength, ivLength + authTagLength));
  const body = bytes.subarray(ivLength + authTagLength);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/** Reads the keys at every use, so that a running service notices a rotation. */
export function createVault(readKeys: () => Keys): Vault {
  // Removed keys stay here, because a value that was read before the removal may be opened after it.
  const keysById = new Map<string, Buffer>();
  let known: Keys | undefined;
  let keyId = '';
  const refresh = (): Keys => {
    const keys = readKeys();
    if (keys === known) return keys;
    for (const key of keys) keysById.set(keyIdOf(key), key);
    keyId = keyIdOf(keys[0]);
    known = keys;
    return keys;
  };
  refresh();
  return {
    seal(text, binding) {
      const [current] = refresh();
      return `${keyId}.${encrypt(current, text, boundTo(binding))}`;
    },
    open(sealed, binding) {
      refresh();
      const id = sealedWith(sealed);
      const key = keysById.get(id);
      if (!key)
        throw new Error(
          `A stored value needs key ${id}, which is missing. Add it to CARD_KEY (or CARD_KEY_FILE).`,
        );
      return decrypt(key, sealed.slice(id.length + 1), boundTo(binding));
    },
    get keyId() {
      refresh();
      return keyId;
    },
    canOpen(id) {
      refresh();
      return keysById.has(id);
    },
  };
}
