// Creates the vault, fingerprints and cursors from the configured secrets. The sandbox generates its own secrets; production
// must configure them.
import { secretNames, type Config, type SecretName } from './config.ts';
import { fingerprintOf } from './domain/cards.ts';
import { createCursorCodec, type CursorCodec } from './domain/cursor.ts';
import { createIdempotencyDigests, type IdempotencyDigests } from './domain/idempotency.ts';
import { createVault, type Keys, type Vault } from './domain/vault.ts';
import { makeDataDirectory } from './postgres/index.ts';
import { sandboxSecrets, storedSecrets, watchCardKeys } from './sandbox/secrets-file.ts';

export interface Secrets {
  vault: Vault;
  cursors: CursorCodec;
  fingerprint: (number: string) => string;
  digests: IdempotencyDigests;
}

/** Whether the card key is in DATA_DIR, where a rotation can replace it. Otherwise the operator sets CARD_KEY. */
export const isCardKeyInDataDir = ({ environment, secrets }: Config): boolean =>
  environment === 'sandbox' && secrets.CARD_KEY === undefined;

/** Read-only, it creates nothing: secrets that are missing in the sandbox are then named and refused. */
export async function openSecrets(config: Config, { readOnly = false } = {}): Promise<Secrets> {
  const { environment, dataDir, secrets, olderCardKeys = [], olderCursorKeys = [] } = config;
  // Created here and not by the first secret, because the embedded database needs special permissions on it.
  if (environment === 'sandbox' && !readOnly) await makeDataDirectory(dataDir);
  const { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY } =
    environment === 'sandbox'
      ? (readOnly ? storedSecrets : sandboxSecrets)(dataDir, secretNames, secrets)
      : complete(secrets);
  const keys: Keys = [CARD_KEY, ...olderCardKeys];
  return {
    // A function, because a rotation changes the key of a running sandbox.
    vault: createVault(isCardKeyInDataDir(config) ? watchCardKeys(dataDir) : () => keys),
    cursors: createCursorCodec([CURSOR_KEY, ...olderCursorKeys]),
    fingerprint: (number) => fingerprintOf(FINGERPRINT_KEY, number),
    digests: createIdempotencyDigests(FINGERPRINT_KEY),
  };
}

/** For the compiler: `readConfig` has already refused a production configuration with a missing secret. */
function complete(secrets: Config['secrets']): Record<SecretName, Buffer> {
  const { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY } = secrets;
  if (!CARD_KEY || !FINGERPRINT_KEY || !CURSOR_KEY) throw new Error('A secret is missing.');
  return { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY };
}
