// Addresses that were stored before contract 1.1, which refuses them: the migration switches them off, and nothing answers 500.
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { switchSubscription } from '../../server/actions/webhook-subscriptions.ts';
import { UncallableAddress } from '../../server/domain/web-address.ts';
import { up } from '../../server/store/migrations/0010-callable-addresses.ts';
import { silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { subscribe } from '../support/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const stored: [old: string, shown: string][] = [
  ['https://a:b/', 'https://a%3Ab/'],
  ['https://a:b:c@d@e/x:y@z?q', 'https://a%3Ab%3Ac%40d%40e/x:y@z?q'],
  ['http://?x', 'http://?x'],
  ['https://', 'https://'],
  ['https://a:99999/', 'https://a:99999/'],
  ['https://foo.1/', 'https://foo.1/'],
  ['https://user:pass@shop.example/', 'https://user:pass@shop.example/'],
];
const callable = ['https://shop.example:8443/hooks?a@b:c', 'http://[::1]:80/'];

// RFC 3986 with an authority. Ajv accepts more: it reads `//a:b/` as a path.
const uri =
  /^https?:\/\/([\w.~!$&'()*+,;=:%-]*@)?(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?([/?#][\w.~!$&'()*+,;=:@%/?#-]*)?$/i;

interface Shown {
  id: string;
  url: string;
  active: boolean;
}

const list = async (): Promise<Shown[]> => {
  const { status, body } = await service.call('GET', '/webhook-subscriptions?limit=100', {
    token: service.token('*.read', '*.write'),
  });
  expect(status).toBe(200);
  return (body as { items: Shown[] }).items;
};

// The database is migrated already. Later migrations may build on this one, so only this one runs again.
const migrateAgain = () => up(service.service.database.db as Kysely<unknown>);

it('subscriptions to them are switched off and listed; the others stay on', async () => {
  const { db } = service.service.database;
  const ids = new Map<string, string>();
  for (const [old] of stored) {
    const { id } = await subscribe(service, 'https://shop.example/');
    await db.updateTable('webhook_subscriptions').set({ url: old }).where('id', '=', id).execute();
    ids.set(old, id);
  }
  for (const url of callable) ids.set(url, (await subscribe(service, url)).id);
  await migrateAgain();
  const items = await list();
  const found = (url: string) => items.find(({ id }) => id === ids.get(url));
  for (const [old, shown] of stored) expect(found(old)).toMatchObject({ url: shown, active: false });
  for (const url of callable) expect(found(url)).toMatchObject({ url, active: true });
  expect(items.filter(({ url }) => !uri.test(url))).toEqual([]);
  for (const [old] of stored)
    await expect(
      silentWork(db, (unit) => switchSubscription(unit, ids.get(old) ?? '', true)),
    ).rejects.toThrow(UncallableAddress);
});

it.each(['before', 'after'])('a buyer can approve %s the migration', async (when) => {
  const { db } = service.service.database;
  for (const [old] of stored) {
    const { body } = await service.call('POST', '/payment-methods', {
      token: service.token('*.write'),
      body: { method: 'card', number: '5105105105105100', expiration_date: '12/39' },
    });
    const { id, approval_url } = body as { id: string; approval_url: string };
    await db.updateTable('payment_methods').set({ redirect_url: old }).where('id', '=', id).execute();
    if (when === 'after') await migrateAgain();
    expect((await fetch(approval_url)).status).toBe(200);
    const decided = await fetch(approval_url, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
      redirect: 'manual',
    });
    // The pattern of the migration cannot tell that `foo.1` is no host.
    expect(decided.status).toBe(when === 'before' || old === 'https://foo.1/' ? 303 : 200);
  }
});
