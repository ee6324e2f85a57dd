import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { loadContract } from '../../../server/kit/contract/load.ts';
import { inTransaction } from '../../../server/kit/database/database.ts';
import { lockUntilCommit } from '../../../server/kit/database/unit-of-work.ts';
import { countWebhookSubscriptions } from '../../../server/kit/events/subscriptions/queries.ts';
import { eventually } from '../../support/data-dir.ts';
import { describeOperation } from '../../support/operation.ts';
import { createAccount } from '../../support/records.ts';
import { startTestService } from '../../support/service.ts';

const valid = { url: 'https://shop.example/hooks' };

describeOperation('createWebhookSubscription', { valid: { body: valid } }, (frame) => {
  const create = (body: object, headers: Record<string, string> = {}) =>
    frame.call({ body: { ...valid, ...body }, headers });

  describe('201 registers an address', () => {
    it('with its own secret, active by default', async () => {
      const { status, body } = await create({});
      expect(status).toBe(201);
      expect(body).toMatchObject({
        active: true,
        authentication: null,
        rotating: false,
        merchant_account_id: 'default',
        ...valid,
      });
      const { secret } = body as { secret: string };
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
      expect((await create({})).text).not.toContain(secret);
    });

    it('with basic authentication, inactive, for another account, with http in the sandbox', async () => {
      const authentication = { kind: 'basic', username: 'shop', password: 'päss word' };
      const { status, body, text } = await create(
        { url: 'http://127.0.0.1:9/', active: false, authentication },
        { 'X-Service-Merchant-Account-ID': 'marketplace', 'Idempotency-Key': 'with a password' },
      );
      expect(status).toBe(201);
      // The caller knows it, and answers end up in logs.
      expect(text).not.toContain('päss word');
      expect(body).toMatchObject({
        active: false,
        authentication: { ...authentication, password: '********' },
        merchant_account_id: 'marketplace',
        url: 'http://127.0.0.1:9/',
      });
    });

    it('for all merchant accounts with *', async () => {
      const { body } = await create({}, { 'X-Service-Merchant-Account-ID': '*' });
      expect(body).toMatchObject({ merchant_account_id: null });
    });
  });

  describe('403 for * by a key pair with access to some accounts only', () => {
    it('creates nothing', async () => {
      const pair = await frame.service.pair({ accounts: ['default'] });
      const headers = { 'X-Service-Merchant-Account-ID': '*' };
      expect((await frame.call({ token: pair.token('*.write'), headers })).status).toBe(403);
    });
  });

  describe('422 for plain http in production', () => {
    it('names the address', async () => {
      const { config } = frame.service;
      await using production = await startTestService({ config: { ...config, environment: 'production' } });
      const token = frame.service.token('*.write');
      const post = (url: string) =>
        production.call('POST', '/webhook-subscriptions', { token, body: { url } });
      const { status, body } = await post('http://shop.example/hooks');
      expect(status).toBe(422);
      expect(body).toMatchObject({ detail: [{ loc: ['body', 'url'], type: 'value_error.url.scheme' }] });
      expect((await post('https://shop.example/hooks')).status).toBe(201);
    });
  });

  it.each(['http://[0]', 'https://[::1::2]/'])('400 for %s, whose host is no IPv6 address', async (url) => {
    const { status, body } = await create({ url });
    expect([status, body]).toMatchObject([400, { details: [{ pointer: '/url', type: 'value_error.url' }] }]);
  });

  describe('422 for a host that a pattern accepts and no URL can have', () => {
    it.each(['https://256.1.1.1/', 'https://1.2.3.4.5/', 'https://a%20b/', 'https://foo.1/'])(
      '%s',
      async (url) => {
        const { status, body } = await create({ url });
        expect(status).toBe(422);
        const { examples } = loadContract().document.components as {
          examples: Record<string, { value: unknown }>;
        };
        expect(body).toEqual(examples.ErrorInvalidHost?.value);
      },
    );
  });

  describe('422 beyond the number of subscriptions', () => {
    const inAccount = (account: string) => ({ 'X-Service-Merchant-Account-ID': account });
    /** Rows that are there already, as if from before there was a limit. */
    const fill = (account: string | null, active: boolean, number: number) =>
      sql`
        insert into webhook_subscriptions (merchant_account_id, active, url, secret_sealed)
        select ${account}, ${active}, 'https://shop.example/', 'sealed' from generate_series(1, ${number}::integer)`.execute(
        frame.service.service.database.db,
      );
    const countActive = async (account: string | null) => {
      const { db } = frame.service.service.database;
      return (await countWebhookSubscriptions(db, account)).active;
    };
    const tooMany = (account: string) => ({
      detail: [
        {
          loc: ['body', 'active'],
          msg: expect.stringContaining(account) as string,
          type: 'value_error.too_many',
        },
      ],
    });
    const open = async (id: string) => {
      await createAccount(frame.service.service.database.db, { id, display_name: id });
      return id;
    };

    it('50 active ones of an account, whose inactive ones and whose neighbours do not count', async () => {
      const account = await open('limits-active');
      await fill(account, false, 10);
      await fill(account, true, 49);
      expect((await create({}, inAccount(account))).status).toBe(201);
      const { status, body } = await create({}, inAccount(account));
      expect(status).toBe(422);
      expect(body).toMatchObject(tooMany(account));
      expect((await create({ active: false }, inAccount(account))).status).toBe(201);
      expect((await create({}, inAccount('marketplace'))).status).toBe(201);
    });

    it('50 active ones for all accounts', async () => {
      await fill(null, true, 50 - (await countActive(null)));
      const { status, body } = await create({}, inAccount('*'));
      expect(status).toBe(422);
      expect(body).toMatchObject(tooMany('for all merchant accounts'));
    });

    it('500 with inactive ones, and those beyond it stay', async () => {
      const account = await open('limits-all');
      await fill(account, false, 499);
      expect((await create({ active: false }, inAccount(account))).status).toBe(201);
      for (const active of [false, true]) {
        const { status, body } = await create({ active }, inAccount(account));
        expect(status).toBe(422);
        expect(body).toMatchObject(tooMany(account));
      }
      await fill(account, true, 100);
      expect(await countActive(account)).toBe(100);
    });

    it('also when two instances are asked at once', async () => {
      const account = await open('limits-race');
      await fill(account, true, 49);
      const { databaseUrl, dataDir, secrets } = frame.service.config;
      await using second = await startTestService({
        config: { databaseUrl, dataDir, secrets, webhookWorker: false },
      });
      const token = frame.service.token('*.write');
      const request = { token, body: valid, headers: inAccount(account) };
      const { db } = frame.service.service.database;
      // Both are under way before either may count.
      const asked = await inTransaction(db, async (tx) => {
        await lockUntilCommit(tx, `webhook subscriptions of ${account}`);
        const calls = [frame.service, second].map(({ call }) =>
          call('POST', '/webhook-subscriptions', request),
        );
        await eventually(async () => {
          const { rows } = await sql`
            select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`.execute(
            db,
          );
          return rows.length === 2;
        }, 'both wait for the lock');
        return { calls };
      });
      const statuses = (await Promise.all(asked.calls)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([201, 422]);
      expect(await countActive(account)).toBe(50);
    });
  });
});
