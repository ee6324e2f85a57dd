/** The real service on a free port with its own database. `call` validates every answer against the contract. */
import { createPrivateKey, randomBytes, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { readConfig, type Config } from '../../server/config.ts';
import { generateKeyPair, signToken } from '../../server/kit/access/token.ts';
import { compileContract, type CompiledContract } from '../../server/kit/contract/compile.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { limits } from '../../server/kit/http/listen.ts';
import { createLog } from '../../server/kit/log/log.ts';
import { openSecrets, type Secrets } from '../../server/open-secrets.ts';
import { secretNames, type SecretName } from '../../server/settings.ts';
import { startService, type Service, type ServiceParts } from '../../server/start.ts';
import { createCaller, type Caller } from './call.ts';
import { createTestDatabase } from './database.ts';
import { printIfWanted } from './explain.ts';
import { createApiKeyPair, createRole } from './kit-records.ts';
import type { Env } from './processes.ts';

export interface TestService extends AsyncDisposable {
  url: string;
  service: Service;
  config: Config;
  call: Caller;
  /** The administrator's private key, which the first start created. */
  key: KeyObject;
  /** A token of the administrator's. */
  token: (...scopes: string[]) => string;
  /** A key pair with these permissions, for these accounts only. */
  pair: (
    options?: PairOptions,
  ) => Promise<{ id: string; key: KeyObject; token: (...scopes: string[]) => string }>;
  logs: string[];
  /** The secrets of the service. */
  secrets: Secrets;
}

interface PairOptions {
  allow?: string[];
  accounts?: string[];
  key?: KeyObject;
}

export interface TestServiceOptions extends Partial<ServiceParts> {
  config?: Partial<Config>;
  /** Starts with an empty database. By default it is a copy of a template with the sample data. */
  firstStart?: boolean;
}

export const testSecrets = (): Record<SecretName, [Buffer]> =>
  Object.fromEntries(secretNames.map((name) => [name, [randomBytes(32)]])) as Record<SecretName, [Buffer]>;

/** The service then uses the secrets in its DATA_DIR, and a rotation can change them. */
export const noSecrets: Record<SecretName, undefined> = {
  CARD_KEY: undefined,
  CURSOR_KEY: undefined,
};

/** What a command needs in its environment to work on the data of such a service. */
export const productionEnv = ({ databaseUrl, secrets }: Pick<Config, 'databaseUrl' | 'secrets'>): Env => ({
  ENVIRONMENT: 'production',
  PUBLIC_URL: 'https://pay.example',
  DATABASE_URL: databaseUrl,
  ...Object.fromEntries(Object.entries(secrets).map(([name, keys]) => [name, keys?.[0].toString('base64')])),
});

// `fetch` keeps its connections, and every service would wait for them when it stops.
limits.lastRequestMilliseconds = 0;

/** Compiled once for all services of a worker. */
let contract: Promise<CompiledContract> | undefined;

export async function startTestService({
  config: given = {},
  firstStart = isFirstStart(given),
  ...options
}: TestServiceOptions = {}): Promise<TestService> {
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'payments-service-')));
  if (!firstStart) await furnish(dataDir);
  const config: Config = {
    ...readConfig({ PORT: '0', LOG_LEVEL: 'debug' }),
    dataDir,
    databaseUrl: given.databaseUrl ?? (await createTestDatabase(firstStart ? 'template' : 'furnished')),
    secrets: templateSecrets(),
    ...given,
  };
  const logs: string[] = [];
  const write = (line: string) => {
    logs.push(line);
    printIfWanted(line);
  };
  const log = createLog(config.logLevel, { write });
  const service = await startService(config, log, {
    contract: await (contract ??= compileContract(loadContract())),
    ...options,
  });
  const keyFile = join(dataDir, 'sandbox-key.pem');
  const key =
    config.environment === 'sandbox'
      ? createPrivateKey(readFileSync(keyFile))
      : generateKeyPair('ECDSA').privateKey;
  return {
    url: service.url,
    service,
    config,
    call: createCaller(service.url, logs),
    key,
    token: createTokens(key),
    pair: (wanted) => createPair(service, wanted),
    logs,
    secrets: openSecrets(config),
    async [Symbol.asyncDispose]() {
      await service.close();
      if (given.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

// The template's cards are sealed with the secrets in its DATA_DIR, so a service on a copy needs the same ones.
const isFirstStart = ({ dataDir, databaseUrl, environment, secrets }: Partial<Config>): boolean =>
  dataDir !== undefined ||
  databaseUrl !== undefined ||
  environment === 'production' ||
  Object.values(secrets ?? {}).some(Boolean);

/** The same as in `secrets.json`, which `payments` reads. A service on a furnished database needs them, or it is refused. */
export function templateSecrets(): Record<SecretName, [Buffer]> {
  const kept = JSON.parse(inject('sandboxFiles')['secrets.json']) as Record<SecretName, string>;
  const entries = secretNames.map((name) => [name, [Buffer.from(kept[name], 'base64')]]);
  return Object.fromEntries(entries) as Record<SecretName, [Buffer]>;
}

async function furnish(dataDir: string): Promise<void> {
  for (const [name, text] of Object.entries(inject('sandboxFiles')))
    await writeFile(join(dataDir, name), text, { mode: 0o600 });
}

/**
 * The same token for the same scopes: to sign one with P-521 takes milliseconds, and so does the service's first look at it.
 * Except with `embed`, because the rate limit counts the calls of each token.
 */
function createTokens(key: KeyObject): (...scopes: string[]) => string {
  const signed = new Map<string, string>();
  return (...scopes) => {
    if (scopes.includes('embed')) return signToken(key, scopes, 3600);
    const name = scopes.join(' ');
    const token = signed.get(name) ?? signToken(key, scopes, 3600);
    signed.set(name, token);
    return token;
  };
}

async function createPair(
  { database: { db } }: Service,
  { allow, accounts = [], key: privateKey = generateKeyPair('ECDSA').privateKey }: PairOptions = {},
) {
  const role = allow && (await createRole(db, { permissions: allow }));
  const made = await createApiKeyPair(db, {
    privateKey,
    roles: [role?.slug ?? 'administrator'],
    accounts: accounts.length === 0 ? 'all' : { only: accounts },
  });
  return {
    id: made.id,
    key: privateKey,
    token: createTokens(privateKey),
  };
}
