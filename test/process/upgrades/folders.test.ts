// A folder of data with its own PostgreSQL: a release fills it, this version opens it, and then that release again. Which release
// refuses the folder of another one is in CHANGELOG.md, 1.2.0, "Going back".
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../generated/operations.ts';
import { runningUrl } from '../../../server/kit/database/embedded/index.ts';
import { createCaller, type Caller } from '../../support/call.ts';
import { card } from '../../support/card.ts';
import { newDataDir, type DataDir } from '../../support/data-dir.ts';
import { query } from '../../support/database.ts';
import { checkOut } from '../../support/old-version.ts';
import { root, runNode, startServer } from '../../support/processes.ts';
import { releases as stored } from '../../support/releases.ts';
import { releases } from './releases.ts';

it('every release whose data is stored is upgraded here', () => {
  expect(releases.map(({ version }) => version)).toEqual(stored.map(({ version }) => version).toSorted());
});

const { limit } = operations.createPaymentMethod.extensions['x-velocity-limit'].same_bin_and_last_four;

/** Different numbers with the same BIN and last four digits. */
const alike = (index: number) => `42420000${String(index).padStart(4, '0')}4242`;

/** In CHANGELOG.md: the statement before a step back, and what to write into it for each version. */
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const statement = /-c "(update applied_migrations set digest = '\w+' where name = '0001-schema')"/.exec(
  changelog,
)?.[1];
const digestOf = (version: string) => new RegExp(`\`(\\w{12})\` for ${version}`).exec(changelog)?.[1] ?? '';
const isRefused = (created: string, opening: string) =>
  opening === '1.1.0' ? created === '1.0.0' : opening === '1.0.0' && created !== '1.0.0';

describe.each(releases)('a folder of $version', ({ version, commit }) => {
  let dataDir: DataDir;
  let token: string;
  /** The second page of a list, and what is on it. */
  let page: { path: string; ids: string[] };
  let rows: Record<string, number>;
  /** By Idempotency-Key. */
  const answers = new Map<string, string>();

  /** Runs the version in this folder while `work` needs it. */
  async function withVersion<T>(folder: string, work: (call: Caller) => Promise<T>): Promise<T> {
    await using server = await startServer({ DATA_DIR: dataDir.path }, folder);
    const result = await work(createCaller(server.url));
    expect((await server.stop()).status).toBe(0);
    return result;
  }
  const payments = async (folder: string, ...args: string[]) => {
    const env = { DATA_DIR: dataDir.path };
    const { status, stdout, output } = await runNode('server/cli/main.ts', args, { env, cwd: folder });
    expect(status, output).toBe(0);
    return stdout;
  };
  const ask = async (text: string) => query((await runningUrl(dataDir.path)) ?? '', text);
  const countRows = async () => {
    const tables = await ask(`select tablename as name from pg_tables where schemaname = 'public'`);
    const columns = tables.map(
      ({ name }) => `(select count(*)::integer from ${String(name)}) as ${String(name)}`,
    );
    return (await ask(`select ${columns.join(', ')}`))[0] as Record<string, number>;
  };
  const store = (call: Caller, body: object, key?: string) =>
    call('POST', '/payment-methods', {
      token,
      body: { ...card, ...body },
      headers: key === undefined ? {} : { 'Idempotency-Key': key },
    });
  const storeWithKey = async (call: Caller, key: string) => {
    const { status, text } = await store(call, { external_identifier: key }, key);
    expect(status).toBe(201);
    answers.set(key, text);
  };
  const list = async (call: Caller, path: string) => {
    const { status, body } = await call('GET', path, { token });
    expect(status).toBe(200);
    const { items, next_cursor } = body as { items: { id: string }[]; next_cursor: string };
    return { ids: items.map(({ id }) => id), next: next_cursor };
  };

  /** What callers rely on: keys, the cursor, and the token with which all of this is called. */
  async function expectAllHolds(call: Caller) {
    for (const [key, text] of answers) {
      const { headers, ...repeated } = await store(call, { external_identifier: key }, key);
      expect([repeated.text, headers.get('idempotency-replayed')]).toEqual([text, 'true']);
    }
    expect((await list(call, page.path)).ids).toEqual(page.ids);
  }
  const expectLimitHolds = async (call: Caller) => {
    expect((await store(call, { number: alike(limit) })).status).toBe(429);
  };

  beforeAll(async () => {
    dataDir = await newDataDir();
    const folder = checkOut(commit);
    await withVersion(folder, async (call) => {
      token = (await payments(folder, 'token', '--scopes', '*.read,*.write', '--ttl', '3600')).trim();
      await storeWithKey(call, 'stored-before');
      for (let index = 0; index < limit; index += 1)
        expect((await store(call, { number: alike(index) })).status).toBe(201);
      const first = '/transactions?limit=20&currency=EUR';
      const path = `${first}&cursor=${(await list(call, first)).next}`;
      page = { path, ids: (await list(call, path)).ids };
      expect(page.ids).toHaveLength(20);
      rows = await countRows();
    });
  });
  afterAll(() => dataDir[Symbol.asyncDispose]());

  it('is opened by this version: all rows are there, and what its callers had holds', () =>
    withVersion(root, async (call) => {
      const { applied_migrations: _, ...same } = rows;
      expect(await countRows()).toMatchObject(same);
      await expectAllHolds(call);
      await expectLimitHolds(call);
      await storeWithKey(call, 'stored-after');
      expect(await payments(root, 'doctor')).toMatch(/\nAll \d+ checks passed\.\n$/);
    }));

  it('is opened by that release again, with what was stored meanwhile', () =>
    withVersion(checkOut(commit), async (call) => {
      await expectAllHolds(call);
      await expectLimitHolds(call);
    }));

  // The oldest last, because 1.1.0 refuses what the statement for 1.0.0 has written. Of the limit nothing is promised: 1.0.0 counts
  // for itself.
  const others = releases.filter((one) => one.version !== version && digestOf(one.version) !== '');
  it.each(others.toReversed())(
    '$version opens it, or refuses it until the statement of the changelog was run',
    async (other) => {
      const folder = checkOut(other.commit);
      if (isRefused(version, other.version)) {
        await expect(withVersion(folder, expectAllHolds)).rejects.toThrow('0001-schema was edited');
        await withVersion(root, async (call) => {
          await expectAllHolds(call);
          await ask(String(statement).replace(/'\w+'/, `'${digestOf(other.version)}'`));
        });
      }
      await withVersion(folder, expectAllHolds);
    },
  );
});
