// The outbox of a unit of work: an event is validated against the contract and stored with its deliveries, in the transaction of
// the change. A change that is rolled back sends no event; a change that is committed always does.
import { sql, type Transaction } from 'kysely';
import type { EventName } from '../../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { isCitus } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import { runText } from '../database/execution.ts';
import type { Tables } from '../database/tables.ts';
import type { Outbox, Target, UnitOfWork } from '../database/unit-of-work.ts';
import type { DatabaseTime } from '../rules/database-time.ts';
import { makeTimedUuid } from '../rules/values.ts';

/** A stored value is one that the contract does not allow. */
export class BrokenEvent extends Error {}

export const createOutbox =
  (
    check: Pick<ResponseCheck, 'eventFault'>,
    /** The `traceparent` of the current request. */
    currentTrace: () => string | undefined = () => undefined,
  ): Outbox =>
  async (db, name, account, target, at, only) => {
    const id = makeTimedUuid(at);
    const event = {
      type: 'event',
      id,
      name,
      created_at: at.toISOString(),
      merchant_account_id: account,
      target,
    };
    const fault = check.eventFault(name, event);
    if (fault) throw new BrokenEvent(`The event ${name} breaks the contract: ${fault}`);
    const row = { id, name, merchant_account_id: account, body: JSON.stringify(event), created_at: at };
    return { id, deliveries: await insertEvent(db, row, { only, traceparent: currentTrace() }) };
  };

// How a change becomes an event. Rows of a resource with events can be written by an `EventTx` alone, and only `withEvent` has one, so a
// change without an event does not compile: see database/tables.ts. Queries in SQL ask for it. Return every row that was changed.

declare const hasEvent: unique symbol;

export type EventTx = Transaction<Tables> & { readonly [hasEvent]: true };

/** Changes rows and stores an event for each, in the same transaction; none in a unit of work without events (`silently`). */
export async function withEvent<
  Name extends EventName,
  Row extends { merchant_account_id: string },
  Changed extends Row | readonly Row[] | undefined,
>(
  { db, publish }: Pick<UnitOfWork, 'db' | 'publish'>,
  name: Name,
  present: (row: Row) => Target<Name> | Promise<Target<Name>>,
  change: (db: EventTx) => Promise<Changed>,
): Promise<Changed> {
  const changed = await change(db as EventTx);
  for (const row of [changed ?? []].flat() as Row[])
    await publish?.(name, row.merchant_account_id, await present(row));
  return changed;
}

interface EventRow {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: DatabaseTime;
}

export interface DeliveryKey {
  merchant_account_id: string;
  id: string;
}

/**
 * Stores an event, and a delivery for each active subscription of its account or of all accounts; with `only`, for that
 * subscription alone, if it is one of them. Returns how many deliveries.
 */
export async function insertEvent(
  db: Tx,
  event: EventRow,
  { only, traceparent }: { only?: string | undefined; traceparent?: string | undefined } = {},
): Promise<number> {
  const { id, name, merchant_account_id: account, body, created_at: at } = event;
  const shared = [id, account, at, only ?? null];
  // Citus would plan the two in one statement for all of its servers.
  if (isCitus(db)) await runText(db, eventTexts.storing, [...shared, name, body]);
  const { numAffectedRows } = isCitus(db)
    ? await runText(db, eventTexts.queueing, [...shared, traceparent ?? null])
    : await runText(db, eventTexts.both, [...shared, traceparent ?? null, name, body]);
  return Number(numAffectedRows ?? 0);
}

const storing = (name: string, body: string) => `
  insert into events (id, merchant_account_id, created_at, is_for_all, name, body)
  values ($1, $2, $3, $4::uuid is null, ${name}, ${body})`;
const queueing = `
  insert into deliveries (merchant_account_id, created_at, event_id, subscription_id, traceparent)
  select $2::text, $3::timestamptz, $1::uuid, id, $5 from webhook_subscriptions
  where active and (merchant_account_id = $2 or merchant_account_id is null) and ($4::uuid is null or id = $4)`;

export const eventTexts = {
  storing: storing('$5', '$6'),
  queueing,
  both: `with stored as (${storing('$6', '$7')}) ${queueing}`,
};

export const deliveriesWithEvents = (db: Db) =>
  db
    .selectFrom('deliveries')
    .innerJoin('events', (join) =>
      join
        .onRef('events.merchant_account_id', '=', 'deliveries.merchant_account_id')
        .onRef('events.id', '=', 'deliveries.event_id'),
    );

/** Deletes the deliveries of events of one account, with their attempts. This waits for attempts that are being recorded. */
export async function deleteDeliveriesOf(db: Tx, account: string, events: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    delete from deliveries where merchant_account_id = ${account} and event_id = any(${[...events]}::uuid[])
    returning id`.execute(db);
  if (rows.length > 0)
    await sql`
      delete from delivery_attempts
      where merchant_account_id = ${account}
        and delivery_id = any(${rows.map(({ id }) => id)}::uuid[])`.execute(db);
}
