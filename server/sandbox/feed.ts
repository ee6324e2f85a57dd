// What the sandbox's landing page shows and does: the events of the last day with their deliveries, and sending them again.
import { createPrivateKey } from 'node:crypto';
import type { Db } from '../database/database.ts';
import { readPrivate } from '../database/embedded/data-dir.ts';
import { inWork, type Work } from '../database/unit-of-work.ts';
import { listDeliveries, listEvents } from '../events/delivery-list.ts';
import { signToken } from '../resources/api-key-pairs/token.ts';
import { replayDeliveries } from '../resources/webhook-subscriptions/changes.ts';
import { listWebhookSubscriptions } from '../resources/webhook-subscriptions/queries.ts';
import { writeAuditEntry } from '../upkeep/audit.ts';
import { sandboxKeyFile } from './secrets-file.ts';

const dayMilliseconds = 24 * 3_600_000;
const mostEvents = 30;
const mostAttempts = 300;
const tokenSeconds = 3_600;

type Attempt = Awaited<ReturnType<typeof listDeliveries>>[number];

export function createEventFeed(db: Db, now: () => Date) {
  return {
    async list() {
      const since = new Date(now().getTime() - dayMilliseconds);
      const events = await listEvents(db, { since, limit: mostEvents });
      if (events.length === 0) return [];
      const attempts = await listDeliveries(db, { since: events.at(-1)?.created_at, limit: mostAttempts });
      const hosts = new Map(
        (await listWebhookSubscriptions(db)).map(({ id, url }) => [id, new URL(url).host]),
      );
      return events.map(({ id, name, merchant_account_id, created_at }) => ({
        id,
        name,
        account: merchant_account_id,
        at: created_at.toISOString(),
        deliveries: deliveriesOf(
          attempts.filter(({ event_id }) => event_id === id),
          hosts,
        ),
      }));
    },
    replay: async (eventId: string): Promise<number> => {
      const inStep = (work: (unit: Work) => Promise<number>) =>
        inWork(db, async (unit) => {
          const number = await work(unit);
          if (number > 0)
            await writeAuditEntry(unit, {
              operator: 'sandbox',
              host: 'landing page',
              command: `webhooks replay ${eventId}`,
            });
          return number;
        });
      return (await replayDeliveries(inStep, { eventId })).replayed;
    },
  };
}

/** The last attempt of each delivery. */
function deliveriesOf(attempts: readonly Attempt[], hosts: ReadonlyMap<string, string>) {
  const last = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  return [...last.values()].map(({ subscription_id, state, status, error, number, next }) => ({
    subscription: subscription_id,
    host: hosts.get(subscription_id) ?? '',
    state,
    status,
    error,
    attempts: number ?? 0,
    next: next?.toISOString() ?? null,
  }));
}

/** A token for the console, of the key pair that the first start created. It is given to the page and kept nowhere. */
export function makeSandboxToken(dataDir: string): string {
  const pem = readPrivate(sandboxKeyFile(dataDir));
  if (pem === undefined) throw new Error('The sandbox has no key');
  return signToken(createPrivateKey(pem), ['*.read', '*.write'], tokenSeconds);
}
