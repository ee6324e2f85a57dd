// How a transaction changes the usage counters of its stored card.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPaymentMethodOfAnyAccount } from '../../server/resources/payment-methods/any-account.ts';
import { importTransactions, type RefusedRow } from '../../server/resources/transactions/changes.ts';
import type { NewTransaction } from '../../server/resources/transactions/queries.ts';
import { cards } from '../../server/sandbox/sample-records.ts';
import { createTransactions, silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { paymentMethod, transaction } from '../support/transactions.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const db = () => service.service.database.db;
// A card that the sample transactions do not use, so its count starts at zero.
const { id } = cards.find(({ status }) => status === 'processing') ?? { id: '' };
const use = (created_at: string, given: Partial<NewTransaction> = {}) =>
  transaction({ created_at, payment_method: paymentMethod({ id }), ...given });
const usage = async () => {
  const row = await findPaymentMethodOfAnyAccount(db(), id);
  return {
    usage_count: row?.usage_count,
    last_used_at: row?.last_used_at?.toISOString() ?? null,
    cit_usage_count: row?.cit_usage_count,
    cit_last_used_at: row?.cit_last_used_at?.toISOString() ?? null,
  };
};
const day = (number: number) => `2026-11-0${number}T10:00:00.000Z`;

it('counts uses with the time of the last one, and customer-initiated uses separately', async () => {
  const unused = { usage_count: 0, last_used_at: null, cit_usage_count: 0, cit_last_used_at: null };
  expect(await usage()).toEqual(unused);

  // These do not count: without a card, with a card that is not stored, of another account.
  await createTransactions(db(), [
    transaction(),
    transaction({ payment_method: paymentMethod() }),
    use(day(9), { merchant_account_id: 'marketplace' }),
  ]);
  expect(await usage()).toEqual(unused);

  const merchants = use(day(3), { merchant_initiated: true });
  await createTransactions(db(), [merchants]);
  expect(await usage()).toEqual({ ...unused, usage_count: 1, last_used_at: day(3) });

  // Several at once, in any order. Unless it is merchant initiated, a use counts as customer initiated.
  await createTransactions(db(), [
    use(day(5), { merchant_initiated: true }),
    use(day(2)),
    use(day(4), { merchant_initiated: false }),
    use(day(1), { merchant_initiated: null }),
  ]);
  const five = { usage_count: 5, last_used_at: day(5), cit_usage_count: 3, cit_last_used_at: day(4) };
  expect(await usage()).toEqual(five);

  // An older transaction counts but does not change the time; an existing one does not count.
  await createTransactions(db(), [use(day(1)), merchants]);
  const six = { ...five, usage_count: 6, cit_usage_count: 4 };
  expect(await usage()).toEqual(six);

  // They are counted only at the end.
  await silentWork(db(), async (unit) => {
    const again = use(day(8));
    const refused: unknown[] = [];
    const onStored = (rows: readonly RefusedRow[]) => refused.push(...rows);
    await importTransactions(
      unit,
      (async function* () {
        yield { rows: [use(day(7), { merchant_initiated: true }), again], onStored };
        yield { rows: [merchants, again, use(day(6))], onStored };
        expect(await usage()).toEqual(six);
      })(),
    );
    expect(refused).toEqual([
      { index: 0, isRepeated: false },
      { index: 1, isRepeated: true },
    ]);
  });
  expect(await usage()).toEqual({
    usage_count: 9,
    last_used_at: day(8),
    cit_usage_count: 6,
    cit_last_used_at: day(8),
  });
});

it('two transactions with the same cards in different order do not deadlock', async () => {
  const ids = cards.map((card) => card.id);
  const create = (order: string[]) =>
    createTransactions(
      db(),
      order.map((card) => transaction({ payment_method: paymentMethod({ id: card }) })),
    );
  // No more at once than there are connections.
  const orders = Array.from({ length: 10 }, (_, index) => (index % 2 ? ids : [...ids].reverse()));
  for (let round = 0; round < 4; round += 1) await Promise.all(orders.map(create));
});
