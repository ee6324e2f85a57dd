import { beforeAll, describe, expect, it } from 'vitest';
import { describeOperation } from '../../support/operation.ts';

interface Subscription {
  id: string;
  merchant_account_id: string | null;
  secret: string | null;
  authentication: { username: string; password: string } | null;
}

interface Page {
  items: Subscription[];
  next_cursor: string | null;
  previous_cursor: string | null;
}

describeOperation('listWebhookSubscriptions', {}, (frame) => {
  const on = (account: string) => ({ 'X-Service-Merchant-Account-ID': account });
  const create = async (account: string) => {
    const authentication = { kind: 'basic', username: 'shop', password: 'hunter2-hunter2' };
    const token = frame.service.token('*.write');
    const { body } = await frame.service.call('POST', '/webhook-subscriptions', {
      token,
      body: { url: 'https://shop.example/hooks', authentication },
      headers: on(account),
    });
    return body as Subscription;
  };
  const made = {
    default: [] as Subscription[],
    marketplace: [] as Subscription[],
    all: [] as Subscription[],
  };

  beforeAll(async () => {
    for (let index = 0; index < 5; index += 1) made.default.unshift(await create('default'));
    made.marketplace.unshift(await create('marketplace'));
    made.all.unshift(await create('*'));
  });
  const list = async (options: { query?: string; headers?: Record<string, string>; token?: string } = {}) => {
    const { status, body } = await frame.call(options);
    expect(status).toBe(200);
    return body as Page;
  };
  const ids = ({ items }: Page) => items.map(({ id }) => id);

  describe('200 lists subscriptions', () => {
    it('of the account, newest first, with the secret, and the password masked', async () => {
      const page = await list({ token: frame.service.token('*.read', '*.write') });
      expect(ids(page)).toEqual(made.default.map(({ id }) => id));
      expect(page.items[0]?.authentication).toEqual({
        kind: 'basic',
        username: 'shop',
        password: '********',
      });
      expect(page.items[0]?.secret).toBe(made.default[0]?.secret);
    });

    // A reporting token must not be able to forge events.
    it('without secrets, unless token and roles also allow creating subscriptions', async () => {
      const secrets = async (token: string) => (await list({ token })).items.map(({ secret }) => secret);
      const none = made.default.map(() => null);
      const all = made.default.map(({ secret }) => secret);
      const reader = await frame.service.pair({ allow: ['webhook-subscriptions.read'] });
      const both = ['webhook-subscriptions.read', 'webhook-subscriptions.write'];
      expect(await secrets(frame.service.token('*.read'))).toEqual(none);
      expect(await secrets(reader.token(...both))).toEqual(none);
      expect(await secrets(frame.service.token(...both))).toEqual(all);
    });

    it('with *: of every account that the caller has access to; subscriptions for all accounts only with access to all', async () => {
      const everything = [...made.all, ...made.marketplace, ...made.default].map(({ id }) => id);
      expect(ids(await list({ headers: on('*') }))).toEqual(everything);
      const pair = await frame.service.pair({ accounts: ['marketplace'] });
      expect(ids(await list({ headers: on('*'), token: pair.token('*.read') }))).toEqual(
        made.marketplace.map(({ id }) => id),
      );
    });
  });

  describe('422 for a cursor of another list or account', () => {
    it('names the cursor', async () => {
      const { next_cursor } = await list({ query: '?limit=2' });
      for (const headers of [on('marketplace'), on('*')]) {
        expect((await frame.call({ query: `?cursor=${next_cursor ?? ''}`, headers })).status).toBe(422);
      }
    });
  });
});
