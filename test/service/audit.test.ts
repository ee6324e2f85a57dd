// The audit trail: every command that changes something leaves an entry, with time, command and who ran it; none can be
// changed, and none holds a secret.
import { readdirSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOperator } from '../../server/config.ts';
import { showsCode } from '../support/digits.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createBuyer, createTransactions } from '../support/records.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';
import { subscribe } from '../support/webhooks.ts';

let service: TestService;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets, webhookWorker: false } });
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
});
afterAll(() => service[Symbol.asyncDispose]());

interface Entry {
  at: string;
  operator: string;
  host: string;
  command: string;
}

const payments = (args: string[], input = '') => paymentsHere(args, env, input);
const entries = async () =>
  (JSON.parse((await payments(['audit', '--json'])).stdout) as { items: Entry[] }).items;
const db = () => service.service.database.db;

async function changes(): Promise<[args: string[], input?: string][]> {
  const paid = transaction({ status: 'processing' });
  await createTransactions(db(), [paid]);
  const pair = await service.pair();
  const { id: subscription } = await subscribe(service, 'http://127.0.0.1:9/');
  const card = await service.call('POST', '/payment-methods', {
    token: service.token('*.write'),
    body: { method: 'card', number: '4012888888881881', expiration_date: '12/39' },
  });
  const { id } = card.body as { id: string };
  const buyer = await createBuyer(db(), {
    merchant_account_id: 'default',
    external_identifier: null,
    display_name: 'Erased',
    account_number: null,
    billing_details: null,
  });
  const event = await db().selectFrom('events').select('id').executeTakeFirstOrThrow();
  return [
    [['accounts', 'create', 'audited', '--name', 'With a space']],
    [['roles', 'create', 'auditor', '--allow', 'transactions.read']],
    [['keys', 'create', '--name', 'Audited']],
    [['keys', 'deactivate', pair.id]],
    [['buyers', 'create', '--name', 'Jane']],
    [['buyers', 'erase', '--yes', buyer.id]],
    [['gift-cards', 'create'], '9999000077001234 4711\n'],
    [['payment-methods', 'move', id, 'succeeded']],
    [
      ['payment-methods', 'found-replacement', id, '--expiration-date', '01/44', '--new-number'],
      '5555555555554444\n',
    ],
    [['transactions', 'move', paid.id, 'authorization_succeeded']],
    [['import', 'transactions', '-'], JSON.stringify(transaction())],
    [['seed', '--transactions', '1']],
    [['webhooks', 'rotate', subscription]],
    [['webhooks', 'deactivate', subscription]],
    [['webhooks', 'activate', subscription]],
    [['webhooks', 'replay', event.id]],
    [['secrets', 'rotate']],
  ];
}

it('every command that changes something leaves one entry', async () => {
  const made = await changes();
  const before = (await entries()).length;
  for (const [args, input] of made) {
    const { status, stderr } = await payments(args, input);
    expect([args, status], stderr).toEqual([args, 0]);
  }
  const after = await entries();
  const added = after.slice(0, after.length - before).reverse();
  expect(added.map(({ command }) => command.split(' ').slice(0, 2).join(' '))).toEqual(
    made.map(([args]) => args.slice(0, 2).join(' ')),
  );
  for (const { at, operator, host } of added) {
    expect([operator, host]).toEqual([readOperator(), hostname()]);
    expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000);
  }
  const all = JSON.stringify(after);
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
    ['roles', 'create', 'auditor', '--allow', 'transactions.read'],
    ['keys', 'create', '--name', 'x', '--role', 'nobody'],
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
    const folder = join(import.meta.dirname, '../../server/cli');
    const openers = readdirSync(folder).filter((file) =>
      /\b(inWork|inTransaction|createUnitOfWork)\b/.test(readFileSync(join(folder, file), 'utf8')),
    );
    expect(openers).toEqual(['service.ts']);
  });
});

it('with sudo the entry says who called it', () => {
  const { username } = userInfo();
  expect(readOperator({})).toBe(username);
  expect(readOperator({ SUDO_USER: 'alice' })).toBe(`alice as ${username}`);
});
