// Once V8 on Node 24 or 26 has read a key that ends with a backslash, JSON.parse reads other escaped keys of objects that start
// alike as that key (nodejs/node#63785). None of the places where JSON comes in may do so. On other versions of Node these
// tests cannot fail for this reason.
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../client/index.ts';
import { paymentsHere } from '../support/in-process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  // Spoils only objects that start with these keys, so other tests in this process do not notice.
  JSON.parse(String.raw`{"poi":"1","poison\\":"1"}`);
});
afterAll(() => service[Symbol.asyncDispose]());

const odd = { poi: '1', 'poison\n': '2' };
const text = String.raw`{"poi":"1","poison\n":"2"}`;
const db = () => service.service.database.db;

describe('after another caller has poisoned the cache of JSON.parse', () => {
  it('metadata is imported and found as it was sent', async () => {
    const line = JSON.stringify(transaction({ metadata: odd }));
    const { status } = await paymentsHere(
      ['import', 'transactions', '-'],
      { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir },
      line,
    );
    expect(status).toBe(0);
    const stored = await sql`select 1 from transactions where metadata ? ${'poison\n'}`.execute(db());
    expect(stored.rows.length).toBe(1);
    const found = async (metadata: string) => {
      const { body } = await service.call('GET', `/transactions?metadata=${encodeURIComponent(metadata)}`, {
        token: service.token('transactions.read'),
      });
      return (body as { items: unknown[] }).items.length;
    };
    expect([await found(text), await found(String.raw`{"poi":"1","poison\\":"2"}`)]).toEqual([1, 0]);
  });

  it.each(['json', 'jsonb'])('a %s column is read as it was stored', async (type) => {
    const { rows } = await sql<{ value: unknown }>`select ${text}::${sql.raw(type)} as value`.execute(db());
    expect(rows).toEqual([{ value: odd }]);
  });

  it('a webhook is read as it was signed', async () => {
    const [id, at, secret] = [randomUUID(), new Date(), `whsec_${randomBytes(24).toString('base64')}`];
    const body = `{"type":"event","target":${text}}`;
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    };
    expect(await verifyWebhook({ headers, body, secret })).toEqual({ type: 'event', target: odd });
  });
});

describe('a key twice', () => {
  it('in an import is a bad line', async () => {
    const line = JSON.stringify(transaction({ metadata: { a: '1' } })).replace('"a":"1"', '"a":"1","a":"1"');
    const { status, stderr } = await paymentsHere(
      ['import', 'transactions', '-'],
      { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir },
      line,
    );
    expect([status, stderr]).toEqual([1, expect.stringContaining('line 1: /metadata/a has a duplicate key')]);
  });
});
