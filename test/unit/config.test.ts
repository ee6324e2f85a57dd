// The settings: accepted values, defaults, and that all faults are reported at once.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { isProduction, loadSettings, readConfig } from '../../server/config.ts';
import { OperatorFault } from '../../server/kit/faults.ts';
import { fileNameOf, namesWithFiles, rows, secretNames, type SecretName } from '../../server/settings.ts';
import { settingNames } from '../support/processes.ts';

type Env = Record<string, string | undefined>;

const random = () => randomBytes(32).toString('base64');
const secrets = (): Record<SecretName, string> =>
  Object.fromEntries(secretNames.map((name) => [name, random()])) as Record<SecretName, string>;

const production = (): Env => ({
  ENVIRONMENT: 'production',
  PUBLIC_URL: 'https://pay.example',
  DATABASE_URL: 'postgres://service:passphrase@db.example/payments?sslmode=verify-full',
  ...secrets(),
});

function faultOf(env: Env): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof OperatorFault) return error.message;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('without any setting', () => {
  it('the service is a sandbox on this machine', () => {
    expect(readConfig({})).toEqual({
      environment: 'sandbox',
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://127.0.0.1:8080',
      dataDir: resolve('.data'),
      databaseUrl: undefined,
      databasePooler: undefined,
      shutdownDelay: 0,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      tracing: false,
      logLevel: 'info',
      bodyLimit: 102_400,
      webhookWorker: true,
      eventRetentionDays: 30,
      auditRetentionDays: undefined,
      providers: undefined,
      cardsPerMinute: undefined,
      secrets: {},
      warnings: [],
    });
  });

  it('an empty variable counts as unset, as shells and compose files create them', () => {
    const names = [...rows.map(([name]) => name), ...namesWithFiles.map(fileNameOf)];
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe('the table', () => {
  it.each([
    ['ENVIRONMENT', ['sandbox'], ['Sandbox', 'sandbox ']],
    ['HOST', ['0.0.0.0', '::1', 'localhost', 'pay.example'], ['a b', 'http://x', 'x/y', 'x:80']],
    ['PORT', ['0', '80', '65535'], ['-1', '65536', '8080x', '80.5', ' 80', '0x50', '1e3', 'http']],
    [
      'PUBLIC_URL',
      ['https://pay.example', 'http://10.0.0.1:81/base/'],
      ['pay.example', 'ftp://x', 'https://', 'https:x', 'https://u:p@x', 'https://x?y', 'https://x#y'],
    ],
    [
      'DATABASE_URL',
      ['postgres://u:p@h:5432/d', 'postgresql://h/d?sslmode=require'],
      ['mysql://h/d', 'h:5432/d', 'localhost'],
    ],
    ['LOG_LEVEL', ['fatal', 'trace', 'silent'], ['INFO', 'verbose', '30']],
    ['WEBHOOK_WORKER', ['on', 'off'], ['yes', 'true', '1', 'ON']],
    ['EVENT_RETENTION_DAYS', ['1', '3650'], ['0', '3651', '-1', '1.5', '30d']],
    ['AUDIT_RETENTION_DAYS', ['91', '36500'], ['90', '0', '36501', 'forever']],
    ['SHUTDOWN_DELAY', ['0', '300'], ['-1', '301', '5s', '0.5']],
    ['METRICS_PORT', ['0', '9464'], ['-1', '65536', 'on']],
    ['METRICS_HOST', ['0.0.0.0', '::', 'metrics.example'], ['a b', 'http://x', 'x:80']],
    ['TRACING', ['on', 'off'], ['true', '1', 'ON', 'constructor']],
    ['BODY_LIMIT', ['1024', '10485760'], ['1023', '10485761', '100kb', '-1', '1e5']],
  ])('%s takes %j and refuses %j', (name, good, bad) => {
    for (const value of good) expect(() => readConfig({ [name]: value }), value).not.toThrow();
    for (const value of bad) {
      const fault = faultOf({ [name]: value });
      const { format = '?' } = rows.find(([known]) => known === name)?.[1] ?? {};
      expect(fault, value).toMatch(new RegExp(`^  ${name}( \\(or ${name}_FILE\\))? must be `, 'm'));
      expect(fault).toContain(` must be ${format}`);
      if (name !== 'ENVIRONMENT') expect(fault).toContain('has 1 fault:');
    }
  });
});

it('DATABASE_POOLER is `transaction`, and there must be a DATABASE_URL', () => {
  const DATABASE_URL = 'postgres://h/d';
  expect(readConfig({ DATABASE_URL }).databasePooler).toBeUndefined();
  expect(readConfig({ DATABASE_URL, DATABASE_POOLER: 'transaction' }).databasePooler).toBe('transaction');
  for (const DATABASE_POOLER of ['session', 'statement', 'on'])
    expect(faultOf({ DATABASE_URL, DATABASE_POOLER })).toContain('DATABASE_POOLER must be `transaction`');
  expect(faultOf({ DATABASE_POOLER: 'transaction' })).toContain('DATABASE_POOLER needs DATABASE_URL');
});

describe('DATABASE_URL', () => {
  const severalHosts =
    /DATABASE_URL \(or DATABASE_URL_FILE\) must name one host: .*HAProxy.*docs\/scaling\.md/;
  const notEncoded = /in the password must be percent-encoded \(@ is %40/;

  it.each([
    ['postgres://u:hunter@one,two/d', severalHosts],
    ['postgresql://u:p@one:5432,two:5433/d?target_session_attrs=read-write', severalHosts],
    ['postgres:///d?host=one,two', severalHosts],
    ['postgres://u@/d?sslmode=require&host=one%2Ctwo', severalHosts],
    ['postgres://u:hunter@w#1@one/d', notEncoded],
    ['postgres://u:hunter/1@one/d', notEncoded],
    ['postgres://u:1/hunter@one/d', notEncoded],
    ['postgres://u:hunter?1@one/d?sslmode=require', notEncoded],
    ['postgres://u:hunter#1@one/d', notEncoded],
    ['postgres://u:hunter@a,b#c@one/d', notEncoded],
    ['postgres://u:hunter@h/d?port=1,2', severalHosts],
    [
      'postgres://u:hunter@h/d?sslrootcert=/nowhere',
      /names a file that cannot be read \(ENOENT\): check sslcert/,
    ],
    [
      'postgres://u:hunter@h/d?uselibpqcompat=true&sslmode=verify-ca',
      /cannot be used: .*CA with sslrootcert/,
    ],
    ['postgres://u:hunter@h:port/d', /must be a postgres URL/],
    ['postgres:/u:hunter@127.0.0.1/db', /DATABASE_URL/],
    ['postgres:u:hunter@h/db', /DATABASE_URL/],
    ['POSTGRES://u:12/hunter@h/db', /DATABASE_URL/],
  ])('%s is refused, and not repeated', (DATABASE_URL, reason) => {
    const fault = faultOf({ DATABASE_URL });
    expect(fault).toContain('has 1 fault:');
    expect(fault).toMatch(reason);
    expect(fault).not.toContain('hunter');
  });

  it.each([
    // A comma elsewhere is no second host.
    ...['postgres://u:p,w@one/d', 'postgres://u:p@one/d,e', 'postgres://one/d?application_name=a,b'],
    ...['postgres://u:p%40%23%2F%3F@one/d', 'postgres://u@one/d?application_name=a@b'],
    'postgres:///d?host=/run/postgresql&user=a@b',
    'postgres://u@/d?host=/run/postgresql',
    // A parser of URLs takes the last @, so the host is right.
    'postgres://u:p@w@one/d',
  ])('%s is accepted', (DATABASE_URL) => {
    expect(readConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
  });
});

it('METRICS_PORT switches metrics on, on this machine unless told otherwise, and is not PORT', () => {
  expect(readConfig({ METRICS_PORT: '9464' })).toMatchObject({ metricsHost: '127.0.0.1', metricsPort: 9464 });
  expect(readConfig({ METRICS_HOST: '::' })).toMatchObject({ metricsHost: '::', metricsPort: undefined });
  expect(faultOf({ METRICS_PORT: '8080' })).toContain('METRICS_PORT and PORT must differ');
  expect(readConfig({ METRICS_PORT: '0', PORT: '0' }).metricsPort).toBe(0);
});

it('CARDS_PER_MINUTE is a number, `off`, or left to the contract', () => {
  expect(readConfig({}).cardsPerMinute).toBeUndefined();
  expect(readConfig({ CARDS_PER_MINUTE: '7' }).cardsPerMinute).toBe(7);
  expect(readConfig({ CARDS_PER_MINUTE: 'off' }).cardsPerMinute).toBe('off');
  expect(faultOf({ CARDS_PER_MINUTE: '0' })).toContain('CARDS_PER_MINUTE');
});

describe('PUBLIC_URL', () => {
  it.each([
    [{}, 'http://127.0.0.1:8080'],
    [{ PORT: '81' }, 'http://127.0.0.1:81'],
    [{ HOST: 'pay.example', PORT: '81' }, 'http://pay.example:81'],
    [{ HOST: '::1' }, 'http://[::1]:8080'],
    [{ HOST: '2001:db8::7', PORT: '81' }, 'http://[2001:db8::7]:81'],
    [{ HOST: '::1', PUBLIC_URL: 'https://pay.example' }, 'https://pay.example'],
    [{ PUBLIC_URL: 'https://pay.example/base//' }, 'https://pay.example/base'],
  ])('%j leads to %s', (env: Env, url) => {
    expect(readConfig(env).publicUrl).toBe(url);
    expect(URL.canParse(url)).toBe(true);
  });
});

describe('faults', () => {
  it('are reported all at once, in one message with the accepted formats', () => {
    const message = faultOf({
      PORT: 'http',
      HOST: 'a b',
      PUBLIC_URL: 'pay.example',
      DATABASE_URL: 'mysql://root:hunter2@h/d',
      LOG_LEVEL: 'loud',
      BODY_LIMIT: '1',
      CARD_KEY: 'hunter3',
    });
    const [head, ...lines] = message.split('\n');
    expect(head).toBe('The configuration has 7 faults:');
    expect(lines.map((line) => line.trim().split(' ')[0])).toEqual([
      'HOST',
      'PORT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'LOG_LEVEL',
      'BODY_LIMIT',
      'CARD_KEY',
    ]);
    expect(message).not.toContain('hunter');
  });
});

describe('production', () => {
  it('accepts a complete configuration', () => {
    const env = production();
    const config = readConfig(env);
    expect(config).toMatchObject({ environment: 'production', databaseUrl: env.DATABASE_URL });
    for (const name of secretNames)
      expect(config.secrets[name]).toEqual([Buffer.from(env[name] ?? '', 'base64')]);
  });

  it('names every missing secret, and the database, in one message', () => {
    const message = faultOf({ ENVIRONMENT: 'production' });
    for (const name of [...secretNames, 'DATABASE_URL', 'PUBLIC_URL'])
      expect(message).toContain(`${name} is missing`);
    expect(message).toContain('openssl rand -base64 32');
  });

  it.each([
    ['short', randomBytes(16).toString('base64')],
    ['long', randomBytes(48).toString('base64')],
    ['hexadecimal', randomBytes(32).toString('hex')],
    ['not base64', `${'!'.repeat(43)}=`],
    ['one byte over and over', Buffer.alloc(32, 0x9f).toString('base64')],
    ['in two lines', `${random().slice(0, 20)}\n${random().slice(20)}`],
    ['a PEM', `-----BEGIN PRIVATE KEY-----\n${random()}\n-----END PRIVATE KEY-----`],
  ])('refuses a secret that is %s, and does not repeat it', (_name, value) => {
    for (const name of secretNames) {
      const message = faultOf({ ...production(), [name]: value });
      expect(message).toContain(
        `${name} (or ${name}_FILE) must be 32 random bytes in base64 (\`openssl rand -base64 32\`)`,
      );
      expect(message).not.toContain(value.trim());
    }
  });

  it.each(['prod', 'Production', 'staging'])(
    'ENVIRONMENT=%s is told with the other faults of production',
    (ENVIRONMENT) => {
      const message = faultOf({ ENVIRONMENT, LOG_LEVEL: 'warning' });
      expect(message).toContain('ENVIRONMENT must be `sandbox` or `production` (which rules apply)\n');
      expect(message).toContain('LOG_LEVEL must be ');
      for (const name of [...secretNames, 'DATABASE_URL', 'PUBLIC_URL'])
        expect(message).toContain(`${name} is missing`);
    },
  );

  it('the sandbox refuses a weak secret too', () => {
    expect(faultOf({ CURSOR_KEY: Buffer.alloc(32).toString('base64') })).toContain(
      'CURSOR_KEY (or CURSOR_KEY_FILE) must be 32 random',
    );
  });

  it('takes several card keys, of which the first seals, and refuses a weak one among them', () => {
    const [first, second] = [random(), random()];
    const config = readConfig({ ...production(), CARD_KEY: `${first}, ${second}` });
    expect(config.secrets.CARD_KEY?.map((key) => key.toString('base64'))).toEqual([first, second]);
    expect(faultOf({ ...production(), CARD_KEY: `${first},secret` })).toContain(
      'CARD_KEY_FILE) must be 32 random',
    );
    expect(faultOf({ ...production(), CARD_KEY: `${first},` })).toContain('CARD_KEY_FILE) must be 32 random');
    const shared = { CARD_KEY: `${first},${second}`, CURSOR_KEY: second };
    expect(faultOf({ ...production(), ...shared })).toContain('CURSOR_KEY_FILE) must differ');
  });

  it.each([
    [undefined, 'PUBLIC_URL is missing'],
    ['http://pay.example', 'PUBLIC_URL must be https'],
    ['HTTP://pay.example', 'PUBLIC_URL must be https'],
    ['http://127.0.0.1:8080', 'PUBLIC_URL must be https'],
  ])('refuses %s as PUBLIC_URL', (PUBLIC_URL, fault) => {
    const message = faultOf({ ...production(), PUBLIC_URL });
    expect(message).toContain('has 1 fault:');
    expect(message).toContain(fault);
  });

  it('compares secrets by bytes, not by their base64 text', () => {
    // The last base64 character of 32 bytes has two unused bits.
    const first = `${random().slice(0, 42)}A=`;
    const second = `${first.slice(0, 42)}B=`;
    expect(faultOf({ ...production(), CARD_KEY: first, CURSOR_KEY: second })).toContain('must differ');
  });
});

describe('warnings', () => {
  const of = (env: Env) => readConfig(env).warnings;
  const at = (address: string, more: Env = {}) =>
    of({ ...production(), DATABASE_URL: `postgres://service:hunter2@${address}`, ...more });
  const plain = [expect.stringMatching(/^DATABASE_URL .* without TLS/)];

  it('none for a production that has all that it needs, nor for a sandbox that is one', () => {
    expect(of(production())).toEqual([]);
    expect(of({})).toEqual([]);
    expect(of({ ENVIRONMENT: 'sandbox', DATABASE_URL: 'postgres://db.example/payments' })).toEqual([]);
  });

  it.each([
    'db.example/payments',
    'db.example:5432/payments?sslmode=disable',
    'db.example/payments?sslmode=disable&sslrootcert=',
    '10.0.0.7/payments?ssl=0',
    '[2001:db8::7]/payments',
    'localhost/payments?host=db.example',
    'localhost.db.example/payments',
    '127.0.0.1.nip.io/payments',
  ])('%s is reached without TLS', (address) => {
    expect(at(address)).toEqual(plain);
    expect(at(address).join()).not.toContain('hunter2');
  });

  it.each([
    'db.example/payments?sslmode=require',
    'db.example/payments?sslmode=verify-full',
    'db.example/payments?sslmode=no-verify',
    // libpq tries without TLS first, but pg does not.
    'db.example/payments?sslmode=allow',
    'db.example/payments?ssl=true',
    'localhost/payments',
    'LOCALHOST/payments',
    '127.0.0.1:5433/payments',
    '127.1.2.3/payments',
    '[::1]/payments',
    'localhost/payments?host=/var/run/postgresql&port=5432',
  ])('%s is reached with TLS, or on this machine', (address) => {
    expect(at(address)).toEqual([]);
  });

  it.each([
    ['MISSING_KEYS', 'If CARD_KEY is lost: payments secrets replace-lost-keys'],
    ['MAX_REQUESTS_PER_CONNECTION', 'A connection may send 1,000 requests.'],
    ['MAX_CONNECTIONS', '2,000 connections may be open at once.'],
  ])('%s, a setting of an earlier release, has no effect and refuses nothing', (name, instead) => {
    const env = production();
    for (const value of ['500', 'nonsense']) {
      const { warnings, ...config } = readConfig({ ...env, [name]: value });
      expect(warnings).toEqual([`${name} has no effect any more. ${instead}`]);
      expect({ ...config, warnings: [] }).toEqual(readConfig(env));
    }
    expect(of({ [name]: '500' })).toHaveLength(1);
  });

  it('a name that is nearly that of a setting, and no other', () => {
    const others = { HOSTNAME: 'x', PORTAL: 'x', ACQUIRER_KEY: 'x', PGHOST: 'x', npm_config_loglevel: 'x' };
    expect(of({ LOG_LEVLE: 'x', EVENT_RETENTION_DAY: '3', CARD_KEY_FIL: 'x', ...others })).toEqual([
      'The environment sets LOG_LEVLE, which is no setting. Did you mean LOG_LEVEL?',
      'The environment sets EVENT_RETENTION_DAY, which is no setting. Did you mean EVENT_RETENTION_DAYS?',
      'The environment sets CARD_KEY_FIL, which is no setting. Did you mean CARD_KEY_FILE?',
    ]);
  });

  it('PGSSLMODE, which pg honours, counts if the address says nothing', () => {
    expect(at('db.example/payments', { PGSSLMODE: 'require' })).toEqual([]);
    expect(at('db.example/payments', { PGSSLMODE: 'disable' })).toEqual(plain);
    expect(at('db.example/payments?sslmode=disable', { PGSSLMODE: 'require' })).toEqual(plain);
    expect(at('db.example/payments', { PGSSLMODE: 'allow' })).toEqual(plain);
  });

  it('so does PGHOST', () => {
    expect(at('/payments', { PGHOST: 'db.example' })).toEqual(plain);
    expect(at('/payments')).toEqual([]);
  });

  it('a database of its own, and no word about which rules apply', () => {
    const found = of({ DATABASE_URL: 'postgres://service:hunter2@localhost/payments' });
    expect(found).toEqual([expect.stringMatching(/^ENVIRONMENT is not set .*sandbox/)]);
    expect(found.join()).not.toContain('hunter2');
  });
});

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-secrets-'));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  let files = 0;
  const fileWith = (text: string) => {
    const path = join(folder, `secret-${(files += 1)}`);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  /** Production, with this setting in a file. */
  const inFile = (name: string, path: string): Env => ({
    ...production(),
    [name]: undefined,
    [fileNameOf(name)]: path,
  });

  it('all of them are read, without the newline at the end', () => {
    const env = production();
    const asFiles = namesWithFiles.map((name, index) => [
      fileNameOf(name),
      fileWith(`${env[name] ?? ''}${['\n', '\r\n', ''][index % 3] ?? ''}`),
    ]);
    const without = Object.entries(env).filter(([name]) => !namesWithFiles.some((other) => other === name));
    expect(readConfig(Object.fromEntries([...without, ...asFiles]) as Env)).toEqual(readConfig(env));
    expect([...namesWithFiles].sort()).toEqual(['CARD_KEY', 'CURSOR_KEY', 'DATABASE_URL']);
  });

  it('a file may begin with a byte order mark, and a variable may end with the carriage return of its line', () => {
    const env = production();
    const [first = 'CARD_KEY', ...others] = namesWithFiles;
    const asWritten = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, `${text}\r`]));
    const inFiles = { [fileNameOf(first)]: fileWith(`\u{FEFF}${env[first] ?? ''}`), [first]: undefined };
    expect(others.length).toBeGreaterThan(0);
    expect(readConfig({ ...asWritten, ...inFiles })).toEqual(readConfig(env));
    expect(isProduction(asWritten)).toBe(true);
  });

  it.each(namesWithFiles)('%s in both forms is refused, and both are named', (name) => {
    const env = production();
    const message = faultOf({ ...env, [fileNameOf(name)]: fileWith(env[name] ?? '') });
    expect(message).toContain('has 1 fault:');
    expect(message).toContain(`${name} and ${name}_FILE are both given`);
    expect(message).not.toContain(env[name]);
  });

  it.each(namesWithFiles)('%s that cannot be read is one fault, without the path', (name) => {
    const told = `${name}_FILE must be the path of a file with the value: there is no such file`;
    // It could be the secret itself, given to the wrong variable.
    for (const path of [
      join(folder, 'missing', 'key'),
      random(),
      `/${random().slice(1)}`,
      'postgres://u:hunter2@h/d',
    ]) {
      const message = faultOf(inFile(name, path));
      expect(message).toContain(`has 1 fault:\n  ${told}`);
      expect(message).not.toContain(path);
    }
  });

  it.each([
    ['a folder', () => folder, 'it is not a regular file'],
    ['a device', () => '/dev/zero', 'it is not a regular file'],
    ['empty', () => fileWith('\n'), 'the file is empty'],
    ['no file at all', () => `${folder}/${'x'.repeat(300)}`, 'the file cannot be read (ENAMETOOLONG)'],
  ])('that is %s is refused', (_, path, reason) => {
    expect(faultOf(inFile('CARD_KEY', path()))).toContain(
      `CARD_KEY_FILE must be the path of a file with the value: ${reason}`,
    );
  });

  it.skipIf(process.getuid?.() === 0)('that this user may not read is refused', () => {
    const path = fileWith(random());
    chmodSync(path, 0);
    expect(faultOf(inFile('CARD_KEY', path))).toContain('this user may not read the file');
  });

  it('is named as well when its content is refused, and all faults come at once', () => {
    const first = random();
    const message = faultOf({
      ...production(),
      ...{ CARD_KEY: undefined, CARD_KEY_FILE: fileWith(`${first},hunter2`) },
      ...{ DATABASE_URL: undefined, DATABASE_URL_FILE: fileWith('mysql://u:hunter3@h/d') },
    });
    expect(message).toContain('has 2 faults:');
    expect(message).toContain('CARD_KEY (or CARD_KEY_FILE) must be 32 random bytes');
    expect(message).toContain('DATABASE_URL (or DATABASE_URL_FILE) must be a postgres URL');
    expect(message).not.toMatch(/hunter|\/tmp/);
    expect(message).not.toContain(first);
  });

  it('that everybody can read is warned of', () => {
    const path = fileWith(random());
    chmodSync(path, 0o640);
    expect(readConfig(inFile('CARD_KEY', path)).warnings).toEqual([]);
    chmodSync(path, 0o644);
    expect(readConfig(inFile('CARD_KEY', path)).warnings).toEqual([
      'CARD_KEY_FILE is a file that every user of this machine can read: let only the user of the service read it',
    ]);
  });
});

it('a file of settings adds what is not given, neither as a value nor as a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-settings-'));
  const file = join(folder, 'payments.env');
  writeFileSync(file, '\u{FEFF}HOST="a # b"\nPORT=1\nCARD_KEY_FILE=/x\nCURSOR_KEY=x\nDATABASE_URL=\'y\'\n');
  const given = { PORT: '2', CARD_KEY: 'z', CURSOR_KEY_FILE: '/z' };
  for (const name of settingNames) vi.stubEnv(name, (given as Env)[name]);
  try {
    loadSettings(file);
    const read = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => settingNames.includes(name)),
    );
    expect(read).toEqual({ ...given, HOST: 'a # b', DATABASE_URL: 'y' });
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
});
