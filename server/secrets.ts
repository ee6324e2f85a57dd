// Creates the vault, fingerprints and cursors from the configured secrets. The sandbox generates its own secrets; production
// must configure them.
import type { Config } from './config.ts';
import { secretNames, type SecretName } from './settings.ts';
import { createCursorCodec, type CursorCodec } from './domain/cursor.ts';
import { createFingerprints, type Fingerprints } from './domain/fingerprints.ts';
import { createIdempotencyDigests, type IdempotencyDigests } from './domain/idempotency.ts';
import { createVault, keyIdOf, type Keys, type Vault } from './domain/vault.ts';
import { createVelocityDigests, type VelocityDigests } from './domain/velocity.ts';
import { makeDataDirectory } from './postgres/index.ts';
import { olderKeysIn, sandboxSecrets, storedSecrets, watchCardKeys } from './sandbox/secrets-file.ts';

export interface Secrets {
  vault: Vault;
  cursors: CursorCodec;
  fingerprints: Fingerprints;
  /** One for each FINGERPRINT_KEY, so that a request is recognised during a rotation. */
  digests: readonly IdempotencyDigests[];
  velocity: VelocityDigests;
  /** The IDs of the keys of each variable, in their order. */
  keyIds: () => Record<SecretName, readonly string[]>;
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
  const { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY } =
    environment === 'sandbox'
      ? (readOnly ? storedSecrets : sandboxSecrets)(dataDir, secretNames, secrets)
      : complete(secrets);
  const keys: Keys = [CARD_KEY, ...olderCardKeys];
  const fingerprintKeys: Keys = [
    FINGERPRINT_KEY,
    ...(olderFingerprintKeys ?? (secrets.FINGERPRINT_KEY ? [] : olderKeysIn(dataDir, 'FINGERPRINT_KEY'))),
  ];
  const cursorKeys: Keys = [CURSOR_KEY, ...olderCursorKeys];
  // A function, because a rotation changes the key of a running sandbox.
  const readCardKeys = isCardKeyInDataDir(config) ? watchCardKeys(dataDir) : () => keys;
  const fingerprints = createFingerprints(fingerprintKeys);
  return {
    vault: createVault(readCardKeys),
    cursors: createCursorCodec(cursorKeys),
    fingerprints,
    digests: fingerprintKeys.map(createIdempotencyDigests),
    velocity: createVelocityDigests(fingerprintKeys),
    keyIds: () => ({
      CARD_KEY: readCardKeys().map(keyIdOf),
      FINGERPRINT_KEY: [fingerprints.version, ...fingerprints.older],
      CURSOR_KEY: cursorKeys.map(keyIdOf),
    }),
  };
}

/** For the compiler: `readConfig` has already refused a production configuration with a missing secret. */
function complete(secrets: Config['secrets']): Record<SecretName, Buffer> {
  const { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY } = secrets;
  if (!CARD_KEY || !FINGERPRINT_KEY || !CURSOR_KEY) throw new Error('A secret is missing.');
  return { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY };
}
