// CARD_KEY and CURSOR_KEY change without downtime, by rolling restarts of two instances as docs/guides/keys.md says: at every
// step what one instance stored or issued is accepted by the other.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../server/config.ts';
import { keyIdOf } from '../../server/kit/secrets/vault.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { paymentsHere } from '../support/in-process.ts';
import { keysUsed } from '../support/sealed.ts';
import { startTestService, testSecrets, type TestService } from '../support/service.ts';

type KeyList = readonly [Buffer, ...Buffer[]];
interface Keys {
  card: KeyList;
  cursor: KeyList;
}
type Name = 'one' | 'two';

const [oldCard, newCard, oldCursor, newCursor] = [1, 2, 3, 4].map(() => randomBytes(32)) as [
  ...[Buffer, Buffer, Buffer, Buffer],
];
const both = ['one', 'two'] as const;

let dataDir: DataDir;
let databaseUrl: string;
const running = new Map<Name, TestService>();
const at = (name: Name) => {
  const found = running.get(name);
  if (!found) throw new Error(`${name} does not run`);
  return found;
};

/** A real restart: the old server is closed, and the new one reads its keys from the configuration. */
async function restart(name: Name, { card, cursor }: Keys): Promise<void> {
  await running.get(name)?.[Symbol.asyncDispose]();
  const config: Partial<Config> = {
    dataDir: dataDir.path,
    databaseUrl,
    secrets: { CARD_KEY: card, CURSOR_KEY: cursor },
    webhookWorker: false,
  };
  running.set(name, await startTestService({ config }));
}

beforeAll(async () => {
  dataDir = await newDataDir();
  databaseUrl = await createTestDatabase();
  for (const name of both) await restart(name, { card: [oldCard], cursor: [oldCursor] });
});
afterAll(async () => {
  for (const service of running.values()) await service[Symbol.asyncDispose]();
  await dataDir[Symbol.asyncDispose]();
});

const page = async (name: Name, cursor = '') => {
  const token = at(name).token('*.read');
  const { status, body } = await at(name).call('GET', `/transactions?limit=2&cursor=${cursor}`, { token });
  return { status, ...(body as { items: unknown[]; next_cursor: string }) };
};
const cursorOf = async (name: Name): Promise<string> => (await page(name)).next_cursor;

const subscribe = async (name: Name, key: string, account: string) => {
  const { status, body, text, headers } = await at(name).call('POST', '/webhook-subscriptions', {
    token: at(name).token('*.write'),
    body: { active: false, url: 'https://keys.example' },
    headers: { 'Idempotency-Key': key, 'X-Service-Merchant-Account-ID': account },
  });
  const { secret } = body as { secret: string };
  return { status, text, secret, replayed: headers.get('idempotency-replayed') };
};
const secretsSeen = async (name: Name) => {
  const token = at(name).token('*.read', '*.write');
  const { status, body } = await at(name).call('GET', '/webhook-subscriptions?limit=100', {
    token,
    headers: { 'X-Service-Merchant-Account-ID': '*' },
  });
  expect(status).toBe(200);
  return (body as { items: { secret: string }[] }).items.map(({ secret }) => secret);
};

/** Everything that was stored and issued so far. */
const stored: { key: string; account: string; text: string; secret: string }[] = [];

/** Each instance stores and issues; both accept all of it. */
async function worksOnBoth(): Promise<void> {
  for (const name of both) {
    const other = name === 'one' ? 'two' : 'one';
    const key = randomUUID();
    // Answers about all accounts are kept apart from those about one.
    const account = name === 'one' ? 'default' : '*';
    const { status, text, secret } = await subscribe(name, key, account);
    expect(status).toBe(201);
    stored.push({ key, account, text, secret });
    const cursor = await cursorOf(name);
    const [own, others] = [await page(name, cursor), await page(other, cursor)];
    expect([own.status, others.status]).toEqual([200, 200]);
    expect(others.items).toEqual(own.items);
  }
  for (const name of both) {
    expect((await secretsSeen(name)).sort()).toEqual(stored.map(({ secret }) => secret).sort());
    for (const { key, account, text } of stored)
      expect(await subscribe(name, key, account)).toMatchObject({ status: 201, text, replayed: 'true' });
  }
}

describe('a rolling rotation of CARD_KEY and CURSOR_KEY', () => {
  let firstCursor: string;
  beforeAll(async () => {
    firstCursor = await cursorOf('one');
  });
  const steps: [string, Keys][] = [
    ['1: every instance accepts the new keys', { card: [oldCard, newCard], cursor: [oldCursor, newCursor] }],
    ['2: every instance uses the new keys', { card: [newCard, oldCard], cursor: [newCursor, oldCursor] }],
  ];

  it.each(steps)('step %s, at any moment of it', async (_, keys) => {
    for (const name of both) {
      await restart(name, keys);
      await worksOnBoth();
      expect((await page(name, firstCursor)).status).toBe(200);
    }
  });

  it('step 3: `payments secrets rotate`, and then no value needs the old card key', async () => {
    const CARD_KEY = [newCard, oldCard].map((key) => key.toString('base64')).join(',');
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir.path, CARD_KEY };
    const { status, stdout } = await paymentsHere(['secrets', 'rotate'], env);
    expect([status, stdout]).toEqual([0, expect.stringContaining('can be removed from CARD_KEY')]);
    expect(await keysUsed(at('one').service.database.db)).toEqual([keyIdOf(newCard)]);
    for (const name of both) {
      await restart(name, { card: [newCard], cursor: [newCursor, oldCursor] });
      await worksOnBoth();
    }
  });

  it('cursors from before are valid as long as the old key is there, which is to be a day, and then 422', async () => {
    const freshCursor = await cursorOf('one');
    for (const name of both) expect((await page(name, firstCursor)).status).toBe(200);
    for (const name of both) {
      await restart(name, { card: [newCard], cursor: [newCursor] });
      await worksOnBoth();
      expect((await page(name, firstCursor)).status).toBe(422);
      expect((await page(name, freshCursor)).status).toBe(200);
    }
  });
});

describe('`payments secrets rotate` in production', () => {
  it('needs --yes while the service is connected, because an instance may lack the new key', async () => {
    const url = await createTestDatabase();
    const secrets = { ...testSecrets(), CARD_KEY: [oldCard] as const };
    const envWith = (...keys: Buffer[]) => ({
      ...{ ENVIRONMENT: 'production', DATABASE_URL: url },
      CARD_KEY: keys.map((key) => key.toString('base64')).join(','),
    });
    const run = (words: string, keys: Buffer[], input = '') =>
      paymentsHere(words.split(' '), envWith(...keys), input);
    expect((await run('accounts create default --name Default', [oldCard])).status).toBe(0);
    expect((await run('gift-cards create', [oldCard], '4123450000000000 1234\n')).status).toBe(0);
    const audited = async () => (await run('audit', [oldCard])).stdout;
    const before = await audited();
    const service = await startTestService({
      config: { environment: 'production', publicUrl: 'https://pay.example', databaseUrl: url, secrets },
    });
    const used = () => keysUsed(service.service.database.db);
    try {
      const refused = await run('secrets rotate', [newCard, oldCard]);
      expect([refused.status, refused.stderr]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(
            `^The service is connected .*\\d connections?\\).*${keyIdOf(newCard)} first in CARD_KEY.* --yes\\. Nothing`,
          ),
        ),
      ]);
      expect([await used(), await audited()]).toEqual([[keyIdOf(oldCard)], before]);

      expect((await run('secrets rotate --yes', [newCard, oldCard])).status).toBe(0);
      expect(await used()).toEqual([keyIdOf(newCard)]);
      const after = await audited();
      expect(after).toMatch(/secrets rotate --yes$/m);
      const again = await run('secrets rotate --yes', [newCard, oldCard]);
      expect([again.status, again.stdout]).toEqual([0, expect.stringMatching(/^Nothing to do: /)]);
      expect(await audited()).toBe(after);
    } finally {
      await service[Symbol.asyncDispose]();
    }
    // Commands do not count as instances.
    expect((await run('secrets rotate', [oldCard, newCard])).status).toBe(0);
    // It lists the keys that the variable has, and the one that stored values need besides.
    const env = { ...envWith(newCard), CURSOR_KEY: newCursor.toString('base64') };
    const { stdout } = await paymentsHere(['doctor', '--json'], env);
    const { keys, items } = JSON.parse(stdout) as {
      keys: Record<string, string[]>;
      items: { note?: string }[];
    };
    expect(keys).toEqual({ CARD_KEY: [keyIdOf(newCard)], CURSOR_KEY: [keyIdOf(newCursor)] });
    expect(items.map(({ note }) => note)).toContain(
      `they need key ${keyIdOf(oldCard)}: add it to CARD_KEY (or CARD_KEY_FILE)`,
    );
  });
});
