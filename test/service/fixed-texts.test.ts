// Statements that are fixed texts, which the compiler does not check against the schema.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction, type Database } from '../../server/kit/database/database.ts';
import { eventTexts } from '../../server/kit/events/outbox.ts';
import { recordText } from '../../server/resources/number-limits/queries.ts';
import { cardText, insertPaymentMethod } from '../../server/resources/payment-methods/queries.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';
import { createAccount } from '../support/records.ts';

let database: Database;
beforeAll(async () => {
  database = openTestDatabase(await createTestDatabase());
  await createAccount(database.db, { id: 'default', display_name: 'Default' });
});
afterAll(() => database.close());

it.each(Object.entries({ ...eventTexts, cardText, recordText }))('%s fits the schema', async (name, text) => {
  await sql.raw(`prepare fixed_${name} as ${text}`).execute(database.db);
});

it('a new card is stored as it is answered, in every column', async () => {
  const card = {
    id: randomUUID(),
    merchant_account_id: 'default',
    buyer_id: null,
    external_identifier: 'order-1',
    status: 'succeeded',
    scheme: 'visa',
    bin: '41111111',
    card_type: 'credit',
    card_issuer_name: 'Bank',
    expiration_date: '12/39',
    label: '1111',
    fingerprint: 'fingerprint',
    number_sealed: 'sealed',
    redirect_url: null,
  } as const;
  await inTransaction(database.db, async (tx, now) => {
    const answered = await insertPaymentMethod(tx as never, card, now);
    const stored = await tx.selectFrom('payment_methods').selectAll().executeTakeFirstOrThrow();
    expect(answered).toEqual(stored);
    expect(await insertPaymentMethod(tx as never, { ...card, id: randomUUID() }, now)).toBeUndefined();
  });
});
