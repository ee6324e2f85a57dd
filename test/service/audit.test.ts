// The audit trail: every command that changes something leaves an entry, with time, command and who ran it; none can be
// changed, and none holds a secret.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Call } from '../../server/cli/service.ts';
import { readOperator } from '../../server/config.ts';
import { createTestDatabase } from '../support/database.ts';
import { showsCode } from '../support/digits.ts';
import { paymentsHere } from '../support/in-process.ts';
import {
  createAccount,
  createBuyer,
  createGiftCard,
  createTransactions,
  expireCard,
  recordReplacement,
} from '../support/records.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';
import { subscribe } from '../support/webhooks.ts';

// One test calls every command that changes something, in turn.
vi.setConfig({ testTimeout: 180_000 });

let service: TestService;
let env: Record<string, string | undefined>;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-'));
  service = await startTestService({ config: { secrets: noSecrets, webhookWorker: false } });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

interface Entry {
  at: string;
  operator: string;
  host: string;
  command: string;
}

const payments = (args: string[], input = '') => paymentsHere(args, env, input);
const entries = async (of = env) =>
  (JSON.parse((await paymentsHere(['audit', '--json'], of)).stdout) as { items: Entry[] }).items;
const db = () => service.service.database.db;

/** A command that changes something. */
interface Change {
  args: string[];
  input?: string;
  /** Instead of those of the service. */
  env?: Record<string, string | undefined>;
}

async function changes(): Promise<Change[]> {
  const paid = transaction({ status: 'processing' });
  await createTransactions(db(), [paid]);
  await createAccount(db(), { id: 'unused', display_name: 'Unused' });
  const pair = await service.pair();
  const { id: subscription } = await subscribe(service, 'http://127.0.0.1:9/');
  const store = async (number: string): Promise<string> => {
    const body = { method: 'card', number, expiration_date: '12/39' };
    const card = await service.call('POST', '/payment-methods', { token: service.token('*.write'), body });
    return (card.body as { id: string }).id;
  };
  // Its verification does not end.
  const slow = await store('4012888888881881');
  const moved = await store('4012888888881881');
  const erased = await store('4242424242424242');
  const expired = await store('4111111111111111');
  await recordReplacement({ db: db(), secrets: service.secrets }, expired, { expiration_date: '12/44' });
  await expireCard(db(), expired, 'last');
  const buyer = await createBuyer(db(), { display_name: 'Erased' });
  const gift = await createGiftCard(
    { db: db(), secrets: service.secrets },
    { number: '9999000077004321', pin: '1' },
  );
  const event = await db().selectFrom('events').select('id').executeTakeFirstOrThrow();
  // A database that no service is connected to, without the key of what is stored there.
  const lost = { DATABASE_URL: await createTestDatabase('furnished'), DATA_DIR: join(folder, 'lost') };
  mkdirSync(lost.DATA_DIR, { mode: 0o700 });
  const PROVIDERS = join(folder, 'providers.mjs');
  writeFileSync(PROVIDERS, `export const verifyCard = () => ({ status: 'succeeded' });`);
  return [
    { args: ['accounts', 'create', 'audited', '--name', 'With a space'] },
    { args: ['accounts', 'delete', 'unused'] },
    { args: ['roles', 'create', 'auditor', '--allow', 'transactions.read'] },
    { args: ['roles', 'update', 'auditor', '--name', 'Auditor'] },
    { args: ['roles', 'delete', 'auditor'] },
    { args: ['keys', 'create', '--name', 'Audited'] },
    { args: ['keys', 'update', pair.id, '--merchant-account', 'default'] },
    { args: ['keys', 'deactivate', pair.id] },
    { args: ['buyers', 'create', '--name', 'Jane'] },
    { args: ['buyers', 'erase', '--yes', buyer.id] },
    { args: ['gift-cards', 'create'], input: '9999000077001234 4711\n' },
    { args: ['gift-cards', 'erase', '--yes', gift.id] },
    { args: ['payment-methods', 'move', moved, 'succeeded'] },
    { args: ['payment-methods', 'verify', slow], env: { ...env, PROVIDERS } },
    {
      args: ['payment-methods', 'found-replacement', slow, '--expiration-date', '01/44', '--new-number'],
      input: '5555555555554444\n',
    },
    { args: ['payment-methods', 'apply-replacements'] },
    { args: ['payment-methods', 'erase', '--yes', erased] },
    { args: ['transactions', 'move', paid.id, 'authorization_succeeded'] },
    { args: ['import', 'transactions', '-'], input: JSON.stringify(transaction()) },
    { args: ['seed', '--transactions', '1'] },
    { args: ['webhooks', 'create', 'http://127.0.0.1:9/'] },
    { args: ['webhooks', 'rotate', subscription] },
    { args: ['webhooks', 'deactivate', subscription] },
    { args: ['webhooks', 'activate', subscription] },
    { args: ['webhooks', 'replay', event.id] },
    { args: ['webhooks', 'trigger', 'transaction.updated'] },
    { args: ['webhooks', 'delete', '--yes', subscription] },
    { args: ['secrets', 'rotate'] },
    { args: ['secrets', 'replace-lost-keys', '--yes'], env: lost },
  ];
}

/** Only Ctrl-C ends it: test/process/sharded/webhooks-cli.test.ts finds its entries. */
const elsewhere = ['webhooks listen'];

/** These change nothing that is stored. */
const reads = [
  ...['accounts list', 'roles list', 'keys list', 'buyers list', 'buyers show', 'gift-cards list'],
  ...['payment-methods list', 'payment-methods show', 'transactions list', 'transactions show'],
  ...['webhooks list', 'webhooks deliveries', 'database url'],
  ...['audit', 'doctor', 'token'],
  // What they store is in their logs, as that of the service.
  'webhooks work',
  // The schema, and who may do what. Neither is a record.
  'database migrate',
];

const filesOfCommands = ['cli', 'commands'].flatMap((name) => {
  const folder = join(import.meta.dirname, '../../server', name);
  return readdirSync(folder).map((file) => join(folder, file));
});

/** `buyers erase`, `seed` and so on: every command that does something. */
async function everyCommand(): Promise<string[]> {
  const names: string[] = [];
  const add = (command: Command, before: string) => {
    const name = `${before}${command.name()}`;
    if (command.commands.length === 0) names.push(name);
    for (const one of command.commands) add(one, `${name} `);
  };
  for (const file of filesOfCommands.filter((name) => basename(name) !== 'main.ts')) {
    const loaded = (await import(file)) as { makeCommand?: (call: Call) => Command };
    if (loaded.makeCommand) add(loaded.makeCommand({ args: [] }), '');
  }
  return names.sort();
}

const nameOf = (args: readonly string[], names: readonly string[]) =>
  names.find((name) => `${args.join(' ')} `.startsWith(`${name} `)) ?? args.join(' ');

it('there are at most 50 commands to learn: what shows more of the same is an option', async () => {
  const elsewhereMade = ['start'];
  expect([...(await everyCommand()), ...elsewhereMade].length).toBeLessThanOrEqual(50);
});

it('every command that changes something leaves one entry', async () => {
  const names = await everyCommand();
  const made = await changes();
  // A new command is in one of the two.
  expect([...made.map(({ args }) => nameOf(args, names)), ...elsewhere, ...reads].sort()).toEqual(names);
  for (const { args, input, env: own } of made) {
    const name = nameOf(args, names);
    const before = (await entries(own)).length;
    const { status, stderr } = await paymentsHere(args, own ?? env, input);
    expect([args, status], stderr).toEqual([args, 0]);
    const after = await entries(own);
    const added = after.slice(0, after.length - before);
    expect([args, added.map((entry) => nameOf(entry.command.split(' '), names))]).toEqual([args, [name]]);
    for (const { at, operator, host } of added) {
      expect([operator, host]).toEqual([readOperator(), hostname()]);
      expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000);
    }
  }
  const all = JSON.stringify(await entries());
  expect(all).toContain(`accounts create audited --name 'With a space'`);
  expect(all).toMatch(/buyers erase --yes [0-9a-f-]{36}"/);
  // Cards and buyers can be erased, the trail cannot.
  expect(all).toContain('--expiration-date …');
  expect(all).not.toMatch(/9999000077001234|5555555555554444|whsec_|BEGIN|Jane/);
  expect(showsCode(all, '4711')).toBe(false);
});

it('reads, and commands that are refused, leave none', async () => {
  await payments(['roles', 'create', 'holds-a-pair', '--allow', '*.read']);
  await payments(['keys', 'create', '--name', 'Held', '--role', 'holds-a-pair']);
  const before = await entries();
  for (const args of [
    ['accounts', 'list'],
    ['webhooks', 'deliveries'],
    ['doctor'],
    ['audit'],
    ['accounts', 'create', 'audited', '--name', 'again'],
    ['roles', 'create', 'holds-a-pair', '--allow', 'transactions.read'],
    ['keys', 'create', '--name', 'x', '--role', 'nobody'],
    ['keys', 'update', (await service.pair()).id, '--merchant-account', 'nowhere'],
    ['roles', 'delete', 'holds-a-pair'],
  ])
    await payments(args);
  expect(await entries()).toEqual(before);
});

it('an entry can be neither changed nor removed', async () => {
  for (const statement of [
    sql`update audit_entries set operator = 'nobody'`,
    sql`delete from audit_entries`,
    sql`truncate audit_entries`,
  ])
    await expect(statement.execute(db())).rejects.toThrow('audit entries cannot be changed');
});

it('people see a table, of a time and an operator if they like', async () => {
  const { stdout } = await payments(['audit', '--limit', '2']);
  expect(stdout).toMatch(/^at +operator +host +created +command\n/);
  expect(stdout.trim().split('\n')).toHaveLength(3);
  expect((await payments(['audit', '--since', '2999-01-01'])).stdout).toContain('There is no such entry');
  const [newest, ...older] = await entries();
  const listed = async (...filter: string[]) =>
    (JSON.parse((await payments(['audit', '--json', ...filter])).stdout) as { items: Entry[] }).items;
  expect(await listed('--until', newest?.at ?? '')).toEqual(older);
  expect(await listed('--operator', newest?.operator ?? '')).toEqual([newest, ...older]);
  expect(await listed('--operator', 'somebody else')).toEqual([]);
  // What a command created is behind it, so that its ID leads to who created it.
  const made = JSON.parse((await payments(['keys', 'create', '--name', 'found later'])).stdout) as {
    id: string;
  };
  expect((await listed('--search', made.id)).map(({ command }) => command)).toEqual([
    `keys create --name 'found later' # ${made.id}`,
  ]);
  for (const _ of ['deactivates it', 'changes nothing']) await payments(['keys', 'deactivate', made.id]);
  expect(await listed('--search', `deactivate ${made.id}`)).toHaveLength(1);
  expect((await payments(['audit', '--since', 'then'])).stderr).toContain('Give a time such as');
});

describe('no command can forget it', () => {
  it('only service.ts opens transactions', () => {
    const openers = filesOfCommands.filter((file) =>
      /\b(inWork|inTransaction|createUnitOfWork)\b/.test(readFileSync(file, 'utf8')),
    );
    expect(openers.map((file) => basename(file))).toEqual(['service.ts']);
  });
});

it('with sudo the entry says who called it', () => {
  const { username } = userInfo();
  expect(readOperator({})).toBe(username);
  expect(readOperator({ SUDO_USER: 'alice' })).toBe(`alice as ${username}`);
});
