// The `payments` command line, with and without a running server on the same embedded database.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { signToken } from '../../server/kit/access/token.ts';
import { createCaller } from '../support/call.ts';
import { eventually, newDataDir, nothingRunsOn, processesOn, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase, query } from '../support/database.ts';
import { paymentsHere, typed } from '../support/in-process.ts';
import {
  createPayments,
  paymentsWithoutSpace,
  startCommand,
  startPayments,
  startServer,
  type Server,
} from '../support/processes.ts';
import { testSecrets } from '../support/service.ts';

let dataDir: DataDir;
let server: Server;

beforeAll(async () => {
  dataDir = await newDataDir();
  server = await startServer({ DATA_DIR: dataDir.path });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await dataDir[Symbol.asyncDispose]();
});

/** In its own process. */
const run = (...args: string[]) => createPayments({ DATA_DIR: dataDir.path })(args);
const here = (...args: string[]) => paymentsHere(args, { DATA_DIR: dataDir.path });

/** Standard output of a command that must succeed. */
async function said(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await here(...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

async function saidOutside(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const json = async (...args: string[]) => JSON.parse(await said(...args)) as never;

interface Pair {
  id: string;
  thumbprint: string;
  algorithm: string;
  active: boolean;
  private_key?: string;
  roles: { slug: string }[];
  merchant_accounts: { id: string }[];
}

const statusWith = async (token: string, path = '/card-scheme-definitions') =>
  (await createCaller(server.url)('GET', path, { token })).status;

const tokenOf = (pair: Pair, ...scopes: string[]) =>
  signToken(createPrivateKey(pair.private_key ?? ''), scopes, 3600);

it('exits with 0, 1 or 2, and prints only results on standard output', async () => {
  const [done, refused, wrong] = await Promise.all([
    run('roles', 'list', '--json'),
    run('keys', 'create', '--name', 'x', '--role', 'unicorn'),
    run('unicorns'),
  ]);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(done.stdout)).toMatchObject({ items: [{ slug: 'administrator' }] });
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(wrong).toMatchObject({ status: 2, stdout: '' });
});

it('does not fail when the reader closes the pipe early', async () => {
  const child = startPayments(['--help'], { DATA_DIR: dataDir.path });
  child.process.stdout.destroy();
  expect(await child.ended).toMatchObject({ status: 0, stderr: '' });
});

const nobody = '00000000-0000-4000-8000-000000000000';

describe('help', () => {
  it('shows every command, examples and exit codes', async () => {
    const text = await said('--help');
    for (const noun of ['accounts', 'roles', 'keys', 'token', 'database'])
      expect(text).toMatch(new RegExp(`^  ${noun}\\b.+`, 'm'));
    expect(text).toContain('payments keys create --name "Checkout server" --role checkout --out');
    expect(text).toMatch(/payments webhooks trigger transaction\.updated +# \(sandbox\)/);
    expect(text).toContain('Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 78 wrong settings.');
    expect(text).toMatch(/^Here payments is called as: npm run -s payments -- …\n/);
  });

  it.each([
    ...['accounts list', 'roles list', 'keys list', 'buyers list', 'gift-cards list', 'payment-methods list'],
    ...['transactions list', 'webhooks list', 'audit', 'webhooks deliveries', 'doctor', 'seed'],
    ...['import transactions', 'secrets rotate', 'secrets replace-lost-keys', 'buyers erase'],
    ...['payment-methods erase', 'gift-cards erase'],
  ])('of %s has --json', async (command) => {
    expect(await said(...command.split(' '), '--help')).toMatch(/^ +--json /m);
  });

  it.each([
    [[], 'Usage: payments'],
    [['unicorns'], "unknown command 'unicorns'"],
    [['keys', 'creat'], 'Did you mean create?'],
    [['keys', 'create'], "required option '--name <name>' not specified"],
    [['keys', 'create', '--name', 'x', '--algorithm', 'HMAC'], 'Allowed choices are ECDSA, RSA'],
    [['accounts', 'list', '--yaml'], "unknown option '--yaml'"],
    [['audit', '--limit', 'many'], 'Give a number from 1 to 100000.'],
  ])('wrong usage %j exits with 2 and says how', async (args, message) => {
    const { status, stdout, stderr } = await here(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    if (args.length > 0) expect(stderr).toContain('(add --help for more)');
  });
});

describe('a wrong value exits with 2 and says what is right', () => {
  it.each([
    [['keys', 'create', '--name', 'x'.repeat(201)], 'Give 1 to 200 characters.'],
    [
      ['roles', 'create', 'r', '--allow', 'transactions.delete'],
      'Invalid: transactions.delete. Separate by commas: <resource>.read,',
    ],
    [
      ['roles', 'create', 'Finance', '--allow', '*.read'],
      'A slug has lower-case letters, digits and hyphens',
    ],
    [['accounts', 'create', '*', '--name', 'x'], 'An account ID has 1 to 255 printable ASCII characters'],
    [['accounts', 'create', 'x'.repeat(256), '--name', 'x'], 'An account ID has 1 to 255'],
    [['token', '--scopes', 'transactions'], 'Invalid: transactions. Separate by commas:'],
    [['token', '--scopes', 'transactions.read embed'], 'embed. Separate by commas: '],
    [['token', '--scopes', ' , '], 'Invalid: an empty list.'],
    [['token', '--scopes', '*.read', '--ttl', '86401'], 'Give a number from 1 to 86400.'],
  ])('%j', async (args, message) => {
    const { status, stdout, stderr } = await here(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^error: .*\n\(add --help for more\)\n$/);
  });
});

it.each([
  [['roles', 'update', 'unicorn'], 'Say what to change: --allow, --name or --description.'],
  [['--settings'], '--settings needs the path of a file.'],
])('%j, which Commander accepts, exits with 2, too', async (args, message) => {
  expect(await here(...args)).toEqual({ status: 2, stdout: '', stderr: `${message}\n` });
});

describe('a refused command exits with 1 and prints one sentence', () => {
  it.each([
    [
      ['keys', 'create', '--name', 'x', '--role', 'unicorn'],
      `There is no role unicorn. See: payments roles list`,
    ],
    [['keys', 'create', '--name', 'x', '--role', 'a,b'], 'For several, repeat --role.'],
    [
      ['keys', 'create', '--name', 'x', '--merchant-account', 'nowhere'],
      `There is no merchant account nowhere. See: payments accounts list`,
    ],
    [['keys', 'deactivate', nobody], `There is no key pair ${nobody}. See: payments keys list`],
    [['roles', 'create', 'administrator', '--allow', '*.read'], 'There is a role administrator already.'],
    [['roles', 'update', 'administrator', '--allow', '*.read'], 'The role administrator is built in.'],
    [['roles', 'delete', 'administrator'], 'The role administrator is built in.'],
    [['roles', 'update', 'unicorn', '--allow', '*.read'], 'There is no role unicorn. See:'],
    [['accounts', 'create', 'default', '--name', 'x'], 'There is a merchant account default already.'],
    [['token', '--scopes', '*.read', '--key', '/no/such.pem'], '/no/such.pem cannot be read.'],
    [
      ['token', '--scopes', '*.read', '--key', 'package.json'],
      'package.json is not a private key in PEM format.',
    ],
  ])('%j', async (args, message) => {
    const { status, stdout, stderr } = await here(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('an unsupported kind of key', async () => {
    const file = join(dataDir.path, 'p256.pem');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const { status, stderr } = await here('token', '--scopes', '*.read', '--key', file);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `${file} is neither ECDSA on P-521 nor RSA of 2048 bits or more.\n`,
    });
  });

  it('settings that are wrong', async () => {
    const { status, stderr } = await paymentsHere(['accounts', 'list'], { PORT: 'x', LOG_LEVEL: 'x' });
    expect(status).toBe(78);
    expect(stderr).toContain('The configuration has 2 faults:');
  });
});

it('a private key with a passphrase is not called something else', async () => {
  const file = join(dataDir.path, 'encrypted.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  const pem = privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'secret',
  });
  await writeFile(file, pem);
  const { status, stderr } = await here('token', '--scopes', '*.read', '--key', file);
  expect([status, stderr]).toEqual([
    1,
    `${file} has a passphrase. Write the key without it: openssl pkey -in KEY.pem -out PLAIN.pem\n`,
  ]);
});

describe('while the server runs', () => {
  it('a role is changed for its key pairs, and deleted when none has it', async () => {
    await json('roles', 'create', 'changing', '--allow', 'payment-methods.write');
    const pair: Pair = await json('keys', 'create', '--name', 'Changed', '--role', 'changing');
    const token = tokenOf(pair, 'transactions.read');
    const list = async () => (await createCaller(server.url)('GET', '/transactions', { token })).status;
    expect(await list()).toBe(403);
    expect(
      await json('roles', 'update', 'changing', '--allow', '*.read', '--name', 'New', '--json'),
    ).toMatchObject({
      slug: 'changing',
      name: 'New',
      permissions: ['*.read'],
    });
    await eventually(async () => (await list()) === 200, 'the service knows what the role allows');
    const refused = await here('roles', 'delete', 'changing');
    expect([refused.status, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain(`These key pairs have the role changing: Changed (${pair.id})`);
    expect(await list()).toBe(200);

    await json('roles', 'create', 'spare', '--allow', '*.read');
    expect(await json('roles', 'delete', 'spare')).toEqual({ slug: 'spare', deleted: true });
    expect((await here('roles', 'list')).stdout).not.toContain('spare');
  });

  it.each(['ECDSA', 'RSA'])('a new %s pair signs tokens that the service accepts', async (algorithm) => {
    const pair: Pair = await json('keys', 'create', '--name', `Mine ${algorithm}`, '--algorithm', algorithm);
    expect(pair).toMatchObject({
      type: 'api-key-pair',
      algorithm,
      active: true,
      roles: [{ slug: 'administrator' }],
    });
    expect(pair.merchant_accounts).toEqual([]);
    // The same resource as in the API, and the private key.
    const { body } = await createCaller(server.url)('GET', '/api-key-pairs', {
      token: tokenOf(pair, 'api-key-pairs.read'),
    });
    const [listed] = (body as { items: (Pair & { last_used_at: string })[] }).items;
    const { private_key: pem, ...resource } = pair;
    const bits = createPrivateKey(pem ?? '').asymmetricKeyDetails?.modulusLength;
    expect(bits).toBe(algorithm === 'RSA' ? 3072 : undefined);
    expect({ ...listed, last_used_at: null, updated_at: null }).toEqual({ ...resource, updated_at: null });
    expect(await statusWith(tokenOf(pair, 'card-scheme-definitions.read'))).toBe(200);
    expect(await statusWith(tokenOf(pair, 'transactions.read'))).toBe(403);
  });

  it('a key pair with one role and one account can do only what these allow', async () => {
    await said('accounts', 'create', 'shop 2', '--name', 'Second shop');
    const role = await json(
      'roles',
      'create',
      'reporting',
      '--allow',
      'transactions.read, api-key-pairs.read',
    );
    expect(role).toMatchObject({
      slug: 'reporting',
      permissions: ['transactions.read', 'api-key-pairs.read'],
    });
    const pair: Pair = await json(
      ...['keys', 'create', '--name', 'Reports', '--role', 'reporting', '--role', 'reporting'],
      ...['--merchant-account', 'shop 2'],
    );
    expect(pair).toMatchObject({ roles: [{ slug: 'reporting' }], merchant_accounts: [{ id: 'shop 2' }] });
    const token = tokenOf(pair, '*.read');
    expect(await statusWith(token, '/transactions')).toBe(200);
    expect(await statusWith(token)).toBe(403);
    const own = await createCaller(server.url)('GET', '/api-key-pairs', { token });
    expect(own.body).toMatchObject({ items: [{ id: pair.id }] });
  });

  it('--out writes the private key, for its owner only, and prints the pair without it', async () => {
    const file = join(dataDir.path, 'checkout.pem');
    const made = await here('keys', 'create', '--name', 'Checkout', '--out', file);
    expect(made.stderr).toBe(
      `To sign a token with it: payments token --scopes '*.read,*.write' --key ${file}\n`,
    );
    const pair = JSON.parse(made.stdout) as Pair;
    expect(pair.private_key).toBeUndefined();
    expect(JSON.stringify(pair)).not.toContain('PRIVATE KEY');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // A repeated option adds to the scopes.
    const scopes = ['--scopes', '*.read', '--scopes', 'payment-methods.write'];
    const token = (await said('token', ...scopes, '--key', file)).trim();
    expect(await statusWith(token)).toBe(200);
  });

  it('--out does not overwrite a file, and then creates no key pair', async () => {
    const file = join(dataDir.path, 'precious.pem');
    await writeFile(file, 'precious');
    const taken = await here('keys', 'create', '--name', 'Overwriter', '--out', file);
    expect(taken).toEqual({
      status: 1,
      stdout: '',
      stderr: `${file} exists already. Choose another file.\n`,
    });
    expect(await readFile(file, 'utf8')).toBe('precious');
    const nowhere = await here('keys', 'create', '--name', 'Overwriter', '--out', '/no/such/folder/key.pem');
    expect(nowhere.status).toBe(1);
    expect(nowhere.stderr).toMatch(/^\/no\/such\/folder\/key\.pem could not be written: /);
    const full = join(dataDir.path, 'full.pem');
    const create = ['keys', 'create', '--name', 'Overwriter', '--out', full];
    const failed = await paymentsWithoutSpace(create, { DATA_DIR: dataDir.path });
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('could not be written: ')]);
    expect(existsSync(full)).toBe(false);
    expect(await said('keys', 'list')).not.toContain('Overwriter');
  });

  it('a deactivated pair is refused within seconds', async () => {
    const pair: Pair = await json('keys', 'create', '--name', 'Lost');
    const token = tokenOf(pair, '*.read');
    expect(await statusWith(token)).toBe(200);
    const doubted = await paymentsHere(
      ['keys', 'deactivate', pair.id],
      { DATA_DIR: dataDir.path },
      typed('no\n'),
    );
    expect([doubted.status, doubted.stdout]).toEqual([1, '']);
    expect(doubted.stderr).toMatch(
      /^Deactivate the key pair \S+ \(Lost, .+\) for ever\? .*Nothing was changed\.\n$/,
    );
    const deactivate = () => here('keys', 'deactivate', pair.id);
    const first = await deactivate();
    expect(JSON.parse(first.stdout)).toEqual({ id: pair.id, display_name: 'Lost', active: false });
    expect(first.stderr).toMatch(/^This cannot be undone\./);
    const second = await deactivate();
    expect([second.status, second.stdout]).toEqual([0, first.stdout]);
    expect(second.stderr).toBe('It was deactivated already; nothing was changed.\n');
    await eventually(async () => (await statusWith(token)) === 401, 'its token is refused', 5);
    const { items: rows }: { items: { id: string; active: boolean }[] } = await json(
      'keys',
      'list',
      '--json',
    );
    expect(rows.find(({ id }) => id === pair.id)?.active).toBe(false);
  });

  it('token prints the token and nothing else', async () => {
    const text = await saidOutside('token', '--scopes', 'api-key-pairs.read,*.read', '--ttl', '60');
    expect(text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const claims = JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as {
      scopes: string[];
      iat: number;
      exp: number;
    };
    expect(claims.scopes).toEqual(['api-key-pairs.read', '*.read']);
    expect(claims.exp - claims.iat).toBe(60);
    expect(await statusWith(text.trim(), '/api-key-pairs')).toBe(200);
  });

  it('database url prints an address that other programs can use', async () => {
    const url = (await said('database', 'url')).trim();
    const rows = await query(url, 'select id from merchant_accounts order by created_at');
    expect(rows.slice(0, 2).map(({ id }) => id)).toEqual(['default', 'marketplace']);
  });

  it('--settings, or else PAYMENTS_SETTINGS, names a file with what is not set, and the audit trail does not have it', async () => {
    const file = join(dataDir.path, 'payments.env');
    await writeFile(file, `DATA_DIR='${dataDir.path}'\n`);
    for (const [name, option, named] of [
      ['zeroth', [], file],
      ['first', ['--settings', file]],
      ['second', [`--settings=${file}`], '/no/such.env'],
      // As an alias and by hand: the last one counts.
      ['third', ['--settings', '/no/such.env', '--settings', file]],
    ] as const) {
      const create = [...option, 'accounts', 'create', name, '--name', 'x', '--json'];
      vi.stubEnv('PAYMENTS_SETTINGS', named);
      const made = await paymentsHere(create, {});
      expect(made).toMatchObject({ status: 0, stderr: '' });
      expect(JSON.parse(made.stdout)).toMatchObject({ id: name });
    }
    expect(await said('audit', '--limit', '1')).toContain('  accounts create third --name x --json');
    await writeFile(
      file,
      `EVENT_RETENTION_DAY: 3\nDATA_DIR='${dataDir.path}'\nEVENT_RETENTION_DAY=3\nCARD_KEY_FIL=x\nACQUIRER_KEY=x\n`,
    );
    expect(await paymentsHere(['accounts', 'list', '--settings', file], {})).toMatchObject({
      status: 0,
      stderr:
        `${file}: line 1 is no NAME=value, so it sets nothing.\n` +
        `${file} sets CARD_KEY_FIL, which is no setting. Did you mean CARD_KEY_FILE?\n` +
        `${file} sets EVENT_RETENTION_DAY, which is no setting. Did you mean EVENT_RETENTION_DAYS?\n`,
    });
    // The command runs in this process, where they would be those of the environment from now on.
    for (const name of ['CARD_KEY_FIL', 'EVENT_RETENTION_DAY']) Reflect.deleteProperty(process.env, name);
    vi.stubEnv('LOG_LEVELS', 'x');
    expect(await paymentsHere(['accounts', 'list'], { DATA_DIR: dataDir.path })).toMatchObject({
      status: 0,
      stderr: 'The environment sets LOG_LEVELS, which is no setting. Did you mean LOG_LEVEL?\n',
    });
    for (const [path, why] of [
      ['/no/such.env', 'there is no such file'],
      [dataDir.path, 'it is a folder'],
    ])
      expect(await paymentsHere(['accounts', 'list', '--settings', path ?? ''], {})).toEqual({
        status: 78,
        stdout: '',
        stderr: `The settings in ${path} cannot be read: ${why}. Check --settings or PAYMENTS_SETTINGS.\n`,
      });
  });

  it('text that others stored is shown with its control characters escaped', async () => {
    const name = '\u001b[2J\u009b1m\u202eevil\nbuyer  2';
    // oxlint-disable-next-line no-control-regex -- these are what the test is about
    const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
    const made = await said('buyers', 'create', '--name', name, '--external-identifier', 'escapes');
    const table = await said('buyers', 'list');
    const listed = await said('buyers', 'list', '--json');
    expect(table).toContain('\\u001b[2J\\u009b1m\\u202eevil\\nbuyer  2');
    expect(JSON.parse(made)).toMatchObject({ display_name: name });
    expect((JSON.parse(listed) as { items: unknown[] }).items).toContainEqual(
      expect.objectContaining({ display_name: name }),
    );
    const { stderr } = await here('buyers', 'list', '--merchant-account', name);
    expect(stderr).toContain('There is no merchant account \\u001b[2J');
    const misused = await here('buyers', 'list', `--${name}`);
    expect(misused.stderr).toContain('--\\u001b[2J');
    for (const text of [made, table, listed, stderr, misused.stderr]) expect(text).not.toMatch(raw);
  });

  it('lists are tables for people and JSON for programs', async () => {
    const text = await said('keys', 'list');
    const { items: rows }: { items: { display_name: string }[] } = await json('keys', 'list', '--json');
    const sandbox = rows.find(({ display_name }) => display_name === 'Sandbox');
    expect(sandbox).toMatchObject({
      algorithm: 'ECDSA',
      active: true,
      roles: ['administrator'],
      accounts: [],
    });
    expect(text.split('\n')[0]).toMatch(/^id +display_name +active +roles +accounts +algorithm +thumbprint/);
    expect(text).toMatch(/Sandbox +true +administrator +all +ECDSA /);
    expect(text + JSON.stringify(rows)).not.toContain('PRIVATE');
    const { items: accounts }: { items: unknown[] } = await json('accounts', 'list', '--json');
    const { items: roles }: { items: unknown[] } = await json('roles', 'list', '--json');
    expect(accounts.slice(0, 2)).toMatchObject([{ id: 'default' }, { id: 'marketplace' }]);
    expect(roles).toContainEqual(
      expect.objectContaining({ slug: 'administrator', allow: ['*.read', '*.write'] }),
    );
  });
});

describe('while no server runs', () => {
  beforeAll(async () => {
    expect((await server.stop()).status).toBe(0);
    expect(server.output()).not.toMatch(/database connection failed|has stopped/);
    await nothingRunsOn(dataDir.path);
  });

  it('the database is started for the command and stopped afterwards, also if it was refused', async () => {
    const { id } = JSON.parse(await saidOutside('keys', 'create', '--name', 'Made offline')) as Pair;
    await nothingRunsOn(dataDir.path);
    expect(await said('keys', 'list')).toMatch(new RegExp(`^${id} +Made offline `, 'm'));
    expect((await run('keys', 'create', '--name', 'x', '--role', 'unicorn')).status).toBe(1);
    await nothingRunsOn(dataDir.path);
  });

  it('token needs no database', async () => {
    const [first, second] = [
      await said('token', '--scopes', 'embed'),
      await said('token', '--scopes', 'embed'),
    ];
    expect(first).toMatch(/^[\w.-]+\n$/);
    // The rate limit counts by the signed part: two tokens of the same second must differ there.
    expect(first.split('.')[1]).not.toBe(second.split('.')[1]);
  });

  it('database url fails and says why', async () => {
    const { status, stdout, stderr } = await here('database', 'url');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Start the server: npm start');
  });

  const hold = async () => {
    const held = startPayments(['database', 'url', '--hold'], { DATA_DIR: dataDir.path });
    await eventually(() => held.stdout().includes('\n'), 'an address');
    return held;
  };

  it('database url --hold keeps the database running until it is stopped', async () => {
    const held = await hold();
    await query(held.stdout().trim(), 'select from merchant_accounts');
    // A command that leaves does not stop it.
    await here('accounts', 'list');
    await query(held.stdout().trim(), 'select from merchant_accounts');
    held.process.kill('SIGINT');
    expect(await held.ended).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('Press Ctrl-C to stop') as string,
    });
    await nothingRunsOn(dataDir.path);
  });

  it('a command stops what a killed process left', async () => {
    const held = await hold();
    held.process.kill('SIGKILL');
    await held.ended;
    // PostgreSQL notices in a moment that its user is gone.
    await eventually(async () => {
      await here('accounts', 'list');
      return (await processesOn(dataDir.path)).length === 0;
    }, 'it stops');
  });

  it('in a folder without a sandbox creates none, and says where it looked and what to do', async () => {
    await using fresh = await newDataDir();
    for (const args of [
      ['token', '--scopes', '*.read'],
      ['accounts', 'list'],
      ['transactions', 'list'],
      ['database', 'url'],
    ]) {
      const { status, stdout, stderr } = await paymentsHere(args, { DATA_DIR: fresh.path });
      expect([status, stdout, args]).toEqual([1, '', args]);
      expect(stderr).toContain(`There is no sandbox in ${fresh.path}. `);
      expect(stderr).toMatch(/DATA_DIR.* npm start\n$/);
    }
    expect(existsSync(fresh.path)).toBe(false);
    const made = await paymentsHere(['roles', 'create', 'reader', '--allow', '*.read'], {
      DATA_DIR: fresh.path,
    });
    expect([made.status, made.stderr]).toEqual([
      0,
      `There was no sandbox in ${fresh.path}; this command creates one.\n`,
    ]);
    await nothingRunsOn(fresh.path);
  });
});

it('a number and a PIN that are typed at a terminal are not shown', async () => {
  const program = `'${process.execPath}' '${join(inject('compiled'), 'server/cli/main.js')}'`;
  // `script` runs a command at a terminal of its own, which shows what is typed unless the command turns that off.
  const child = startCommand('script', ['-qec', `${program} gift-cards create`, '/dev/null'], {
    env: { DATA_DIR: dataDir.path },
  });
  await vi.waitUntil(() => child.output().includes('Number and PIN: '), 60_000);
  child.process.stdin.write('9999000050009871 8642\r');
  const { status, output } = await child.ended;
  expect(output).toContain('"last4": "9871"');
  expect(status).toBe(0);
  for (const hidden of ['9999000050009871', '8642']) expect(output).not.toContain(hidden);
});

it('a command ends although the module of PROVIDERS holds a timer', async () => {
  const file = join(dataDir.path, 'holding.mjs');
  await writeFile(file, 'setInterval(() => {}, 1000); export const verifyCard = () => true;');
  const { CARD_KEY, CURSOR_KEY } = testSecrets();
  const { status, stdout } = await createPayments({
    CARD_KEY: CARD_KEY[0].toString('base64'),
    CURSOR_KEY: CURSOR_KEY[0].toString('base64'),
    ...{ ENVIRONMENT: 'production', PUBLIC_URL: 'https://pay.example', PROVIDERS: file },
    DATABASE_URL: await createTestDatabase('template'),
  })(['payment-methods', 'verify', '--processing']);
  expect([status, stdout]).toEqual([0, 'There is no card in processing.\n']);
});
