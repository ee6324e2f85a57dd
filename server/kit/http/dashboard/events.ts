// What the sandbox's landing page shows and does: the events of the last day with their deliveries, and sending them again.
import { createPrivateKey } from 'node:crypto';
import { signToken } from '../../access/token.ts';
import type { Db } from '../../database/database.ts';
import { readPrivate } from '../../database/embedded/data-dir.ts';
import { inWork, type InStep } from '../../database/unit-of-work.ts';
import { listDeliveries, listEventsOfLastDay, type Delivery } from '../../events/delivery-list.ts';
import { replayDeliveries } from '../../events/subscriptions/changes.ts';
import { writeAuditEntry } from '../../maintenance/audit.ts';
import { sandboxKeyFile } from '../../secrets/secrets-file.ts';

const mostEvents = 30;
const mostDeliveries = 1000;
const tokenSeconds = 3_600;

export function createEventFeed(db: Db) {
  return {
    async list() {
      const events = await listEventsOfLastDay(db, mostEvents);
      if (events.length === 0) return [];
      const deliveries = await listDeliveries(db, { since: events.at(-1)?.created_at }, mostDeliveries);
      return events.map(({ id, name, merchant_account_id, created_at, body }) => ({
        id,
        name,
        account: merchant_account_id,
        at: created_at.toISOString(),
        payload: body,
        deliveries: deliveries.filter(({ event_id }) => event_id === id).map(shown),
      }));
    },
    replay: async (eventId: string): Promise<number> => {
      const entry = {
        operator: 'sandbox',
        host: 'landing page',
        command: `webhooks replay ${eventId}`,
      };
      const inStep: InStep = (work) =>
        inWork(db, (unit) => work({ ...unit, audit: () => writeAuditEntry(unit, entry) }));
      return (await replayDeliveries(inStep, { eventId })).replayed;
    },
  };
}

function shown({ subscription_id, url, state, attempts, next }: Delivery) {
  const last = attempts.at(-1);
  return {
    subscription: subscription_id,
    host: new URL(url).host,
    state,
    status: last?.status ?? null,
    error: last?.error ?? null,
    answer: last?.answer ?? null,
    attempts: last?.number ?? 0,
    next: next?.toISOString() ?? null,
  };
}

/** A token for the console, of the key pair that the first start created. It is given to the page and kept nowhere. */
export function makeSandboxToken(dataDir: string): string {
  const pem = readPrivate(sandboxKeyFile(dataDir));
  if (pem === undefined) throw new Error('The sandbox has no key');
  return signToken(createPrivateKey(pem), ['*.read', '*.write'], tokenSeconds);
}
