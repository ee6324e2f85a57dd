// Creates the vault, fingerprints and cursors from the configured secrets. The sandbox generates its own secrets; production
// must configure them.
import { secretsFault, type Config } from './config.ts';
import { secretNames, type SecretName } from './settings.ts';
import { createCursorCodec, type CursorCodec } from './domain/cursor.ts';
import { createFingerprints, type Fingerprints } from './domain/fingerprints.ts';
import { createIdempotencyDigests, type IdempotencyDigests } from './domain/idempotency.ts';
import { createVault, keyIdOf, type Keys, type Vault } from './domain/vault.ts';
import {
  createPinDigests,
  createVelocityDigests,
  type PinDigests,
  type VelocityDigests,
} from './domain/velocity.ts';
import { makeDataDirectory } from './postgres/index.ts';
import { olderKeysIn, sandboxSecrets, storedSecrets, watchCardKeys } from './sandbox/secrets-file.ts';

export interface Secrets {
  vault: Vault;
  cursors: CursorCodec;
  fingerprints: Fingerprints;
  /** One for each FINGERPRINT_KEY, so that a request is recognised during a rotation. */
  digests: readonly IdempotencyDigests[];
  velocity: VelocityDigests;
  pins: PinDigests;
  /** The IDs of the keys of each variable, in their order. */
  keyIds: () => Record<SecretName, readonly string[]>;
  /** What a command in production was not given. Whoever uses one of these gets a ConfigFault that names it. */
  missing: readonly SecretName[];
}

/** Whether the card key is in DATA_DIR, where a rotation can replace it. Otherwise the operator sets CARD_KEY. */
export const isCardKeyInDataDir = ({ environment, secrets }: Config): boolean =>
  environment === 'sandbox' && secrets.CARD_KEY === undefined;

/** Read-only, it creates nothing: secrets that are missing in the sandbox are then named and refused. */
export async function openSecrets(config: Config, { readOnly = false } = {}): Promise<Secrets> {
  const {
    environment,
    dataDir,
    secrets,
    olderCardKeys = [],
    olderCursorKeys = [],
    olderFingerprintKeys,
  } = config;
  // Created here and not by the first secret, because the embedded database needs special permissions on it.
  if (environment === 'sandbox' && !readOnly) await makeDataDirectory(dataDir);
  const known: Partial<Record<SecretName, Buffer | undefined>> =
    environment === 'sandbox'
      ? (readOnly ? storedSecrets : sandboxSecrets)(dataDir, secretNames, secrets)
      : secrets;
  const missing = secretNames.filter((name) => known[name] === undefined);
  const keyOf = (name: SecretName): Buffer => {
    const key = known[name];
    if (!key) throw secretsFault([name]);
    return key;
  };
  const cardKeys = once((): Keys => [keyOf('CARD_KEY'), ...olderCardKeys]);
  const fingerprintKeys = once((): Keys => [
    keyOf('FINGERPRINT_KEY'),
    ...(olderFingerprintKeys ?? (secrets.FINGERPRINT_KEY ? [] : olderKeysIn(dataDir, 'FINGERPRINT_KEY'))),
  ]);
  const cursorKeys = once((): Keys => [keyOf('CURSOR_KEY'), ...olderCursorKeys]);
  // A function, because a rotation changes the key of a running sandbox.
  const readCardKeys = isCardKeyInDataDir(config) ? watchCardKeys(dataDir) : cardKeys;
  const vault = once(() => {
    readCardKeys();
    return createVault(readCardKeys);
  });
  const cursors = once(() => createCursorCodec(cursorKeys()));
  const fingerprints = once(() => createFingerprints(fingerprintKeys()));
  const digests = once(() => fingerprintKeys().map(createIdempotencyDigests));
  const velocity = once(() => createVelocityDigests(fingerprintKeys()));
  const pins = once(() => createPinDigests(fingerprintKeys()));
  return {
    missing,
    get vault() {
      return vault();
    },
    get cursors() {
      return cursors();
    },
    get fingerprints() {
      return fingerprints();
    },
    get digests() {
      return digests();
    },
    get velocity() {
      return velocity();
    },
    get pins() {
      return pins();
    },
    keyIds: () => {
      if (missing.length > 0) throw secretsFault(missing);
      const { version, older } = fingerprints();
      return {
        CARD_KEY: readCardKeys().map(keyIdOf),
        FINGERPRINT_KEY: [version, ...older],
        CURSOR_KEY: cursorKeys().map(keyIdOf),
      };
    },
  };
}

/** Made at its first use, because a command in production may be without secrets that it does not use. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
