// What the secrets of a configuration are for: sealing, fingerprints, cursors. The sandbox makes and keeps its own secrets;
// production brings them.
import { secretNames, type Config, type SecretName } from './config.ts';
import { fingerprintOf } from './domain/cards.ts';
import { createCursorCodec, type CursorCodec } from './domain/cursor.ts';
import { createVault, type Keys, type Vault } from './domain/vault.ts';
import { makeDataDirectory } from './postgres/index.ts';
import { sandboxSecrets, watchCardKeys } from './sandbox/secrets-file.ts';

export interface Secrets {
  vault: Vault;
  cursors: CursorCodec;
  fingerprint: (number: string) => string;
}

/** Whether the card key is in DATA_DIR, where a rotation may replace it. Otherwise the operator sets it. */
export const keepsCardKey = ({ environment, secrets }: Config): boolean =>
  environment === 'sandbox' && secrets.CARD_KEY === undefined;

export async function openSecrets(config: Config): Promise<Secrets> {
  const { environment, dataDir, secrets, olderCardKeys = [] } = config;
  // The embedded database needs a folder that its user can enter, so that is made before a secret is written there.
  if (environment === 'sandbox') await makeDataDirectory(dataDir);
  const { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY } =
    environment === 'sandbox' ? sandboxSecrets(dataDir, secretNames, secrets) : complete(secrets);
  const keys: Keys = [CARD_KEY, ...olderCardKeys];
  return {
    // The vault asks at every use, because a rotation changes the key of a running sandbox.
    vault: createVault(keepsCardKey(config) ? watchCardKeys(dataDir) : () => keys),
    cursors: createCursorCodec(CURSOR_KEY),
    fingerprint: (number) => fingerprintOf(FINGERPRINT_KEY, number),
  };
}

/** readConfig refuses a production configuration without all of them. */
function complete(secrets: Config['secrets']): Record<SecretName, Buffer> {
  const { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY } = secrets;
  if (!CARD_KEY || !FINGERPRINT_KEY || !CURSOR_KEY) throw new Error('A secret is missing.');
  return { CARD_KEY, FINGERPRINT_KEY, CURSOR_KEY };
}
