// The secrets of a configuration: the sandbox makes and keeps its own, production has brought them.
import { secretNames, type Config, type SecretName } from './config.ts';
import { sandboxSecrets } from './sandbox/secrets.ts';
import { makeDataDirectory } from './store/embedded/index.ts';

export async function secretsOf(config: Config): Promise<Record<SecretName, Buffer>> {
  // readConfig has refused a missing one.
  if (config.environment === 'production') return config.secrets as Record<SecretName, Buffer>;
  // Before anything is written there: the embedded database needs a folder that lets its user pass.
  await makeDataDirectory(config.dataDir);
  return sandboxSecrets(config.dataDir, secretNames, config.secrets);
}
