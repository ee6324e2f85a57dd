// `payments webhooks deliveries`: what became of each delivery, and why.
import { Command } from 'commander';
import { isUuid } from '../rules/uuid.ts';
import type { Db } from '../database/database.ts';
import { countPending, findEventBody, findEventIds, listDeliveries } from '../events/delivery-list.ts';
import type { Attempt } from '../events/deliveries.ts';
import { findPaymentMethodOfAnyAccount } from '../resources/payment-methods/queries.ts';
import { findTransactionOfAnyAccount } from '../resources/transactions/queries.ts';
import { listWebhookSubscriptions } from '../resources/webhook-subscriptions/queries.ts';
import { visibleJson } from '../visible.ts';
import { OperatorFault } from '../operator-fault.ts';
import { WrongCall } from './faults.ts';
import { asList, call, printRows, type ListOutput } from './output.ts';
import { requireAccount, withDatabase } from './support.ts';
import { limit, time, uuid } from './values.ts';

export const deliveriesCommand = (): Command =>
  asList(new Command('deliveries'))
    .description(
      'show deliveries with the last attempt and when the next one is due, newest first; every attempt with --event, --record or --json',
    )
    .option('--subscription <id>', 'of this subscription', uuid)
    .option('--merchant-account <id>', 'of this account; * is all')
    .option('--record <id>', 'about this record, such as a transaction or a payment method', uuid)
    .option('--event <id>', 'of this event, also as a table cuts it: 01a1…0b47', eventId)
    .option('--body', 'with --event: print the body of the event instead, as it is sent')
    .option('--failed', 'only failed deliveries, which are not retried any more')
    .option('--since <time>', 'only those created since then', time('--since'))
    .option('--limit <number>', 'how many deliveries', limit(100_000), 50)
    .action(deliveries);

/** Three dots are accepted for the one character, which few keyboards have. */
const cutId = /^([0-9a-f]{4})(?:…|\.\.\.)([0-9a-f]{4})$/i;

/** Whole, or as a narrow table shows it. */
export function eventId(text: string): string {
  if (!isUuid(text) && !cutId.test(text)) throw new OperatorFault(`${text} is not an event ID.`);
  return text;
}

/** The whole ID. */
export async function findEventId(db: Db, given: string): Promise<string> {
  const [, begin, end] = cutId.exec(given) ?? [];
  if (begin === undefined || end === undefined) return given;
  const found = await findEventIds(db, begin.toLowerCase(), end.toLowerCase());
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw new OperatorFault(
    found.length === 0
      ? `There is no event ${given} with a delivery. See: ${call('webhooks deliveries')}`
      : `Several events are ${given}. Give the whole ID: ${call('webhooks deliveries --wide')}`,
  );
}

interface DeliveriesOptions extends ListOutput {
  subscription?: string;
  merchantAccount?: string;
  record?: string;
  event?: string;
  body?: boolean;
  failed?: boolean;
  since?: Date;
  limit: number;
}

async function deliveries(options: DeliveriesOptions): Promise<void> {
  const { subscription, merchantAccount, record, event, body, json, wide, ...filter } = options;
  if (body) {
    await printBody(event);
    return;
  }
  const { rows, isOff, waiting } = await withDatabase(
    async ({ db }) => {
      const of = {
        subscriptionId: subscription,
        accountId:
          merchantAccount === undefined || merchantAccount === '*'
            ? undefined
            : await requireAccount(db, merchantAccount),
        record: record === undefined ? undefined : await findRecord(db, record),
        eventId: event && (await findEventId(db, event)),
      };
      const found = await listDeliveries(db, { ...of, ...filter });
      const off = (await listWebhookSubscriptions(db)).filter(({ active }) => !active);
      return {
        rows: found,
        isOff: (id: string) => off.some((one) => one.id === id),
        waiting:
          filter.failed && found.length === 0 ? await countPending(db, of) : { retried: 0, switchedOff: 0 },
      };
      // An account may have millions of events to search through.
    },
    { isLong: record !== undefined || !isUuid(event ?? '') },
  );
  const now = Date.now();
  const last = new Map<string, number | null>();
  for (const { id, number } of rows) last.set(id, Math.max(number ?? 0, last.get(id) ?? 0));
  // State and next attempt are those of the delivery: people would take them for the result of each attempt.
  const isLast = ({ id, number }: (typeof rows)[number]) => json === true || (number ?? 0) === last.get(id);
  const isDetailed = json === true || event !== undefined || record !== undefined;
  const shown = rows
    .filter((row) => isDetailed || isLast(row))
    .map((row) => ({
      event: row.event_id,
      name: row.name,
      record: row.record,
      account: row.merchant_account_id,
      subscription: row.subscription_id,
      state: isLast(row) ? row.state : null,
      attempt: row.number,
      at: row.at,
      status: row.status,
      ms: row.milliseconds,
      error: json || hasArrived(row) ? row.error : attemptResult(row),
      ...(json && { answer: row.answer }),
      next_attempt: json
        ? row.next
        : isLast(row)
          ? nextAttempt(untilThen(row.next, now), isOff(row.subscription_id))
          : null,
    }));
  printRows(
    shown,
    { json, wide },
    {
      whenEmpty: filter.failed
        ? noFailed(waiting)
        : record === undefined
          ? 'There is no delivery.'
          : `There is no delivery of an event about ${record}.`,
      least: ['ms', 'account', 'record', 'subscription', 'status', 'at', 'attempt'],
      textMatters: true,
    },
  );
}

/** The events of a transaction or a card are found fast; those of other records by a search through all events. */
const findRecord = async (db: Db, id: string) =>
  (await findTransactionOfAnyAccount(db, id)) ?? (await findPaymentMethodOfAnyAccount(db, id)) ?? { id };

/** Or was not tried yet. */
const hasArrived = ({ status, error }: Tried): boolean =>
  status === null ? error === null : Math.floor(status / 100) === 2;

type Tried = Pick<Attempt, 'status' | 'error' | 'answer'>;

/** With what the receiver said. */
export const attemptResult = ({ status, error, answer }: Tried): string =>
  [error ?? `HTTP ${status}`, answer].filter(Boolean).join(': ');

async function printBody(event: string | undefined): Promise<void> {
  if (event === undefined) throw new WrongCall(['--body needs --event: the event whose body to print.']);
  const body = await withDatabase(async ({ db }) => findEventBody(db, await findEventId(db, event)));
  if (body === undefined) throw new OperatorFault(`There is no delivery of the event ${event}.`);
  console.log(visibleJson(body));
}

const noFailed = ({ retried, switchedOff }: { retried: number; switchedOff: number }): string =>
  [
    'There is no failed delivery.',
    retried > 0 && `Still retried: ${retried}. See: ${call('webhooks deliveries')}`,
    switchedOff > 0 &&
      `Their subscription is switched off: ${switchedOff}, which fail when their next attempt is due. To deliver one: ${call('webhooks activate ID')}, then ${call('webhooks replay EVENT_ID')}`,
  ]
    .filter(Boolean)
    .join('\n');

/** Without an attempt, if the subscription is switched off. */
const nextAttempt = (then: string | undefined, isOff: boolean): string | undefined =>
  then !== undefined && isOff ? `fails ${then}` : then;

function untilThen(due: Date | null, now: number): string | undefined {
  if (!due) return undefined;
  const seconds = Math.round((due.getTime() - now) / 1000);
  if (seconds <= 0) return 'now';
  if (seconds < 100) return `in ${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}
