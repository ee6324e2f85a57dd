// An event is stored in the transaction of the change it tells of, validated against the contract's webhooks section, and
// handed to the queue in that same transaction. A rolled-back change sends nothing; a committed one is delivered.
import { randomUUID } from 'node:crypto';
import type { EventName } from '../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import type { Db } from '../store/database.ts';
import { storeEvent } from '../store/events.ts';
import type { Queue } from './queue.ts';

export type Publish = (db: Db, name: EventName, account: string, target: object, at: Date) => Promise<void>;

export const createOutbox =
  (queue: Queue, check: Pick<ResponseCheck, 'eventFault'>): Publish =>
  async (db, name, account, target, at) => {
    const id = randomUUID();
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
    const due = await storeEvent(db, {
      id,
      name,
      merchant_account_id: account,
      body: JSON.stringify(event),
      created_at: at,
    });
    await queue.add(db, due);
  };
