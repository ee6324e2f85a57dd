// The secrets of a configuration: the sandbox makes and keeps its own, production has brought them.
import { secretNames, type Config, type SecretName } from './config.ts';
import type { Keys } from './domain/vault.ts';
import { sandboxSecrets, watchCardKeys } from './sandbox/secrets-file.ts';
import { makeDataDirectory } from './postgres/index.ts';

export interface Secrets extends Record<Exclude<SecretName, 'CARD_KEY'>, Buffer> {
  /** A rotation changes them under a service that runs. */
  cardKeys: () => Keys;
}

/** Whether the card key lies in DATA_DIR, where a rotation may change it. Otherwise it is the operator's. */
export const keepsCardKey = ({ environment, secrets }: Config): boolean =>
  environment === 'sandbox' && secrets.CARD_KEY === undefined;

export async function secretsOf(config: Config): Promise<Secrets> {
  const { environment, dataDir, secrets, olderCardKeys = [] } = config;
  if (environment === 'production') {
    // readConfig has refused a missing one.
    const { CARD_KEY, ...others } = secrets as Record<SecretName, Buffer>;
    const keys: Keys = [CARD_KEY, ...olderCardKeys];
    return { ...others, cardKeys: () => keys };
  }
  // Before anything is written there: the embedded database needs a folder that lets its user pass.
  await makeDataDirectory(dataDir);
  const { CARD_KEY, ...others } = sandboxSecrets(dataDir, secretNames, secrets);
  const keys: Keys = [CARD_KEY, ...olderCardKeys];
  return { ...others, cardKeys: keepsCardKey(config) ? watchCardKeys(dataDir) : () => keys };
}
