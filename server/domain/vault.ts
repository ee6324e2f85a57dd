// Encrypts secrets at rest with AES-256-GCM. Each value starts with the ID of its key, so that values of older keys can be
// read after a rotation. A value is bound to its place: a card number that is copied into another row does not open there.
// Values of versions before 1.2 are unbound, see docs/decisions/0014-bound-values.md.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

// What is authenticated in an unbound value.
const unboundPurposes = {
  'card-number': 'card',
  'gift-card-number': 'gift-card',
  'gift-card-pin': 'gift-card',
  'webhook-password': 'webhook',
  'webhook-secret': 'webhook',
  answer: 'answer',
} as const;

export type Purpose = keyof typeof unboundPurposes;

/** Where a value is stored. */
export interface Place {
  purpose: Purpose;
  /** The merchant account of the row, null when it is for all accounts. Of a kept answer, its slot. */
  owner: string | null;
  id: string;
}

/**
 * What the database says of its values. `unbound`: versions before 1.2 may run, so the old form is written. `binding`: a
 * rotation is under way, bound values are written and both forms are read. `bound`: the old form is refused.
 */
export type Sealing = 'unbound' | 'binding' | 'bound';

export interface Sealer {
  seal: (text: string, place: Place) => string;
  /** Throws when the value was not sealed for this place, is damaged, or needs a key that is missing. */
  open: (sealed: string, place: Place) => string;
}

/** The first key encrypts; all of them decrypt. */
export type Keys = readonly [Buffer, ...Buffer[]];

export interface Vault {
  under: (sealing: Sealing) => Sealer;
  /** Asks until all values are bound. They stay so, so nobody asks after that. */
  sealer: (ask: () => Promise<Sealing>) => Promise<Sealer>;
  /** The key that encrypts new values. */
  readonly keyId: string;
  canOpen: (keyId: string) => boolean;
}

export const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('key-id').update(key).digest('hex').slice(0, 8);

/** The ID of the key that encrypted a value. */
export const sealedWith = (sealed: string): string => sealed.replace(/\..*/, '');

const cipherName = 'aes-256-gcm';
const ivLength = 12;
// Said in both directions: without it, a tag that was cut to four bytes is accepted.
const authTagLength = 16;
/** Between the key ID and the content of a bound value. */
const boundMark = '2.';

const boundTo = ({ purpose, owner, id }: Place): Buffer =>
  // PostgreSQL shows UUIDs in lower case, however they were written.
  Buffer.from(JSON.stringify([purpose, owner, id.toLowerCase()]));
const unbound = ({ purpose }: Place): Buffer => Buffer.from(unboundPurposes[purpose]);

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
  const under = (sealing: Sealing): Sealer => ({
    seal(text, place) {
      const [current] = refresh();
      const id = keyIdOf(current);
      return sealing === 'unbound'
        ? `${id}.${encrypt(current, text, unbound(place))}`
        : `${id}.${boundMark}${encrypt(current, text, boundTo(place))}`;
    },
    open(sealed, place) {
      refresh();
      const id = sealedWith(sealed);
      const key = keysById.get(id);
      if (!key) throw new Error(`A stored value needs key ${id}, which is missing. Add it to CARD_KEY.`);
      const content = sealed.slice(id.length + 1);
      if (content.startsWith(boundMark)) return decrypt(key, content.slice(boundMark.length), boundTo(place));
      if (sealing === 'bound') throw new Error('A stored value is not bound to its place.');
      return decrypt(key, content, unbound(place));
    },
  });
  let allBound = false;
  return {
    under,
    async sealer(ask) {
      const sealing = allBound ? 'bound' : await ask();
      allBound ||= sealing === 'bound';
      return under(sealing);
    },
    get keyId() {
      return keyIdOf(refresh()[0]);
    },
    canOpen(id) {
      refresh();
      return keysById.has(id);
    },
  };
}
