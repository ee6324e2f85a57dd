// The outbox of a unit of work: an event is validated against the contract and stored with its deliveries, in the transaction of
// the change. A change that is rolled back sends no event; a change that is committed always does.
import type { Outbox } from '../database/unit-of-work.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { makeTimedUuid } from '../rules/uuid.ts';
import { insertEvent } from './queries.ts';

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
    if (fault) throw new Error(`The event ${name} breaks the contract: ${fault}`);
    const row = { id, name, merchant_account_id: account, body: JSON.stringify(event), created_at: at };
    return { id, deliveries: await insertEvent(db, row, { only, traceparent: currentTrace() }) };
  };
