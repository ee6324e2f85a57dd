// Creates the vault, the keys of digests and cursors from the configured secrets. The sandbox generates its own secrets;
// production must configure them.
import { missingFault, type Config } from './config.ts';
import { makeDataDirectory } from './kit/database/embedded/data-dir.ts';
import { once } from './kit/rules/async.ts';
import { createCursorCodec, type CursorCodec } from './kit/rules/cursor.ts';
import { createKeysOf, type KeysOf } from './kit/secrets/digest-keys.ts';
import {
  makeSandboxSecrets,
  readSandboxSecrets,
  watchCardKeys,
  type SandboxSecrets,
} from './kit/secrets/secrets-file.ts';
import { createVault, keyIdOf, type Keys, type Vault } from './kit/secrets/vault.ts';
import { secretNames, type SecretName } from './settings.ts';

export interface Secrets {
  vault: Vault;
  cursors: CursorCodec;
  keysOf: KeysOf;
  /** The IDs of the keys of each variable, in their order; none if it is missing. */
  keyIds: () => Record<SecretName, readonly string[]>;
  /** What a command in production was not given. Whoever uses one of these gets an OperatorFault that names it. */
  missing: readonly SecretName[];
}

/** Whether the card key is in DATA_DIR, where a rotation can replace it. Otherwise the operator sets CARD_KEY. */
export const isCardKeyInDataDir = ({ environment, secrets }: Config): boolean =>
  environment === 'sandbox' && secrets.CARD_KEY === undefined;

/** Read-only, it creates nothing: secrets that are missing in the sandbox are then named and refused. */
export function openSecrets(config: Config, { readOnly = false } = {}): Secrets {
  const { environment, dataDir, secrets } = config;
  // Created here and not by the first secret, because the embedded database needs special permissions on it.
  if (environment === 'sandbox' && !readOnly) makeDataDirectory(dataDir);
  const notGiven = secretNames.filter((name) => secrets[name] === undefined);
  const inDataDir: Partial<SandboxSecrets> =
    environment === 'sandbox' && notGiven.length > 0
      ? (readOnly ? readSandboxSecrets : makeSandboxSecrets)(dataDir, notGiven)
      : {};
  const missing = notGiven.filter((name) => inDataDir[name] === undefined);
  const readKeys = (name: SecretName) => (): Keys => {
    const keys = secrets[name] ?? inDataDir[name];
    if (!keys) throw missingFault([name]);
    return keys;
  };
  const cursorKeys = readKeys('CURSOR_KEY');
  // A function, because a rotation changes the key of a running sandbox.
  const readCardKeys = isCardKeyInDataDir(config) ? watchCardKeys(dataDir) : readKeys('CARD_KEY');
  // Made at their first use, because a command in production may be without secrets that it does not use.
  const vault = once(() => {
    readCardKeys();
    return createVault(readCardKeys);
  });
  const cursors = once(() => createCursorCodec(cursorKeys()));
  return {
    missing,
    get vault() {
      return vault();
    },
    get cursors() {
      return cursors();
    },
    keysOf: createKeysOf(vault),
    keyIds: () => {
      const idsOf = (name: SecretName, read: () => Keys) =>
        missing.includes(name) ? [] : read().map(keyIdOf);
      return { CARD_KEY: idsOf('CARD_KEY', readCardKeys), CURSOR_KEY: idsOf('CURSOR_KEY', cursorKeys) };
    },
  };
}
