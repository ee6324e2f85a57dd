// `payments import transactions` stores no card number as text, and a decline that it imports applies the replacement of a card.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPaymentMethodOfAnyAccount } from '../../server/resources/payment-methods/any-account.ts';
import type { NewTransaction } from '../../server/resources/transactions/queries.ts';
import { card } from '../support/card.ts';
import { paymentsHere } from '../support/in-process.ts';
import { recordReplacement } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { paymentMethod, transaction } from '../support/transactions.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-import-'));
  service = await startTestService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const db = () => service.service.database.db;
const line = (given: Partial<NewTransaction> = {}) => JSON.stringify(transaction(given));
const importText = (text: string, ...options: string[]) => {
  const { databaseUrl, dataDir } = service.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  return paymentsHere(['import', 'transactions', '-', ...options], env, text);
};

describe('a card number', () => {
  it.each([
    ['/metadata/card', { metadata: { card: '4111111111111111' } }],
    ['/metadata/note', { metadata: { note: 'paid with 4111-1111-1111-1111, again' } }],
    ['a name in /metadata', { metadata: { '378282246310005': 'x' } }],
    ['/raw_response_description', { raw_response_description: 'PAN 5555 5555 5555 4444' }],
  ])('in %s makes the line a bad one, and is not printed', async (place, fields) => {
    const { status, stderr, stdout } = await importText(line(fields));
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`line 1: ${place} has a card number in it, which must not be stored as text`);
    expect(stderr).not.toMatch(/\d{5}/);
  });

  it('is masked in every reason, and in the lines of --bad, however it is written', async () => {
    const file = join(folder, 'numbers.jsonl');
    const number = '4111111111111111';
    const withProperty = (name: string) => line(Object.fromEntries([[name, 1]]));
    const bad = [
      withProperty(number),
      withProperty('4111/1111/1111/1111'),
      `{"${number}": 1, "${number}": 2}`,
      line({ merchant_account_id: number }),
      withProperty('x'.repeat(490) + number),
      line({ metadata: { note: '4111\u200b1111\u200b1111\u200b1111' } }).replaceAll('\u200b', '\\u200b'),
      line({ metadata: { note: '4111\t1111\n1111\r1111' } }),
      withProperty('x').replace('"x":1', '"security_code":"4111"'),
    ];
    const { status, stderr, stdout } = await importText(bad.join('\n'), '--json', '--bad', file);
    expect(status).toBe(1);
    expect(stderr).toContain('Bad: 8 of 8 lines');
    expect(stderr).toContain('[number]');
    for (const text of [stderr, stdout, await readFile(file, 'utf8')])
      expect(text).not.toMatch(/4111111|4111.{1,7}1111|"4111/);
  });
});

describe('declines', () => {
  const later = () => new Date(Date.now() + 60_000).toISOString();
  const cardWithReplacement = async () => {
    const { body } = await service.call('POST', '/payment-methods', {
      token: service.token('*.write'),
      body: card,
    });
    const { id } = body as { id: string };
    await recordReplacement({ db: db(), secrets: service.secrets }, id);
    return id;
  };
  const decline = (card: string, given: Partial<NewTransaction> = {}) =>
    line({
      status: 'authorization_declined',
      raw_response_code: 'expired_payment_method',
      updated_at: later(),
      payment_method: paymentMethod({ id: card }),
      ...given,
    });
  const cardAfter = (id: string) => findPaymentMethodOfAnyAccount(db(), id);
  const applied = { has_replacement: false, replacement: null, replacement_found_at: null, label: '4444' };
  const pending = { has_replacement: true, label: '1111' };
  const eventsOf = async (id: string) => {
    const rows = await db().selectFrom('events').select(['name', 'body']).execute();
    return rows.flatMap(({ name, body }) =>
      (JSON.parse(body) as { target: { id: string } }).target.id === id ? [name] : [],
    );
  };

  it('later than the replacement apply it, and without --events nobody is told', async () => {
    const card = await cardWithReplacement();
    // One of another account does not take its place.
    const foreign = decline(card, { merchant_account_id: 'marketplace', updated_at: '2099-01-01T00:00:00Z' });
    expect((await importText(`${decline(card)}\n${foreign}\n`)).status).toBe(0);
    const row = await cardAfter(card);
    expect(row).toMatchObject(applied);
    expect(row?.last_replaced_at?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(await eventsOf(card)).toEqual(['payment-method.created']);
  });

  it('with --events subscribers hear of transaction and card', async () => {
    const card = await cardWithReplacement();
    const id = randomUUID();
    expect((await importText(decline(card, { id }), '--events')).status).toBe(0);
    expect(await cardAfter(card)).toMatchObject(applied);
    expect(await eventsOf(card)).toEqual(['payment-method.created', 'payment-method.updated']);
    expect(await eventsOf(id)).toEqual(['transaction.created']);
  });

  it.each<[string, Partial<NewTransaction>]>([
    ['from before the replacement was found', { updated_at: '2026-11-15T10:30:00Z' }],
    ['for another reason', { raw_response_code: '05' }],
    ['in another merchant account', { merchant_account_id: 'marketplace' }],
    ['that is a failure', { status: 'authorization_failed' }],
  ])('one %s changes nothing', async (_name, given) => {
    const card = await cardWithReplacement();
    expect((await importText(decline(card, given))).status).toBe(0);
    expect(await cardAfter(card)).toMatchObject(pending);
  });

  it('of a replacement whose moment is not known change nothing', async () => {
    const card = await cardWithReplacement();
    await sql`update payment_methods set replacement_found_at = null where id = ${card}`.execute(db());
    expect((await importText(decline(card))).status).toBe(0);
    expect(await cardAfter(card)).toMatchObject(pending);
  });
});
