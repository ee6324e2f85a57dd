// `payments webhooks deliveries`, `replay` and `work`: what became of each delivery and why, and how it is sent again.
import { Command } from 'commander';
import { readBuild } from '../build.ts';
import type { Db } from '../database/database.ts';
import { nextWait, type Attempt } from '../events/attempts.ts';
import { countPending, findEventBody, listDeliveries } from '../events/delivery-list.ts';
import { OperatorFault } from '../faults.ts';
import { createLog } from '../log.ts';
import { findPaymentMethodOfAnyAccount } from '../resources/payment-methods/queries.ts';
import { findTransactionOfAnyAccount } from '../resources/transactions/queries.ts';
import { replayDeliveries } from '../resources/webhook-subscriptions/changes.ts';
import {
  findWebhookSubscription,
  listWebhookSubscriptions,
} from '../resources/webhook-subscriptions/queries.ts';
import { allAccounts } from '../rules/accounts.ts';
import { observe } from '../upkeep/observe.ts';
import { visibleJson } from '../visible.ts';
import { untilStopped } from './input.ts';
import { printJson, printRows, withExamples, WrongCall, type JsonOption } from './output.ts';
import { auditOnce, noSubscription, requireAccount, withService, type OpenedService } from './service.ts';
import { time, uuid, whole } from './values.ts';

export const deliveriesCommand = (): Command =>
  withExamples(
    new Command('deliveries'),
    'webhooks deliveries --limit 20',
    'webhooks deliveries --subscription ID --failed --since 2h',
    'webhooks deliveries --event ID --body',
  )
    .description(
      'show deliveries with the last attempt and when the next one is due, newest first; every attempt with --event, --record or --json',
    )
    .option('--subscription <id>', 'of this subscription', uuid)
    .option('--merchant-account <id>', 'of this account; * is all')
    .option('--record <id>', 'about this record, such as a transaction or a payment method', uuid)
    .option('--event <id>', 'of this event', uuid)
    .option('--body', 'with --event: print the body of the event instead, as it is sent')
    .option('--failed', 'only failed deliveries, which are not retried any more')
    .option('--since <time>', 'only those created since then', time)
    .option('--limit <number>', 'how many deliveries', whole(1, 100_000), 50)
    .action(deliveries);

interface DeliveriesOptions extends JsonOption {
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
  const { subscription, merchantAccount, record, event, body, json, ...filter } = options;
  if (body) {
    await printBody(event);
    return;
  }
  const { rows, isOff, waiting } = await withService(
    async ({ db }) => {
      const of = {
        subscriptionId: subscription,
        accountId:
          merchantAccount === undefined || merchantAccount === allAccounts
            ? undefined
            : await requireAccount(db, merchantAccount),
        record: record === undefined ? undefined : await findRecord(db, record),
        eventId: event,
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
    { isLong: record !== undefined },
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
  const whenEmpty =
    record === undefined ? 'There is no delivery.' : `There is no delivery of an event about ${record}.`;
  printRows(shown, { json }, filter.failed ? noFailed(waiting) : whenEmpty);
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
  if (event === undefined) throw new WrongCall('--body needs --event: the event whose body to print.');
  const body = await withService(async ({ db }) => findEventBody(db, event));
  if (body === undefined) throw new OperatorFault(`There is no delivery of the event ${event}.`);
  console.log(visibleJson(body));
}

const noFailed = ({ retried, switchedOff }: { retried: number; switchedOff: number }): string =>
  [
    'There is no failed delivery.',
    retried > 0 && `Still retried: ${retried}. See: payments webhooks deliveries`,
    switchedOff > 0 &&
      `Their subscription is switched off: ${switchedOff}, which fail when their next attempt is due. To deliver one: payments webhooks activate ID, then payments webhooks replay EVENT_ID`,
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

export const replayCommand = (): Command =>
  withExamples(new Command('replay'), 'webhooks replay EVENT_ID', 'webhooks replay --failed --since 24h')
    .description('deliver an event again, or all failed deliveries')
    .argument('[event]', 'its ID', uuid)
    .option('--failed', 'all failed deliveries, which are not retried any more')
    .option('--since <time>', 'with --failed: those created since then', time)
    .option('--subscription <id>', 'only to this subscription', uuid)
    .action(replay);

async function replay(
  event: string | undefined,
  { failed, since, subscription }: { failed?: boolean; since?: Date; subscription?: string },
): Promise<void> {
  if (since && !failed) throw new WrongCall('--since needs --failed: it limits which failed deliveries.');
  if ((event === undefined) === (failed === undefined))
    throw new WrongCall('Give the ID of an event, or --failed.');
  const { replayed, switchedOff } = await withService(
    async ({ db }) => {
      if (subscription !== undefined && !(await findWebhookSubscription(db, subscription)))
        throw noSubscription(subscription);
      const filter = { subscriptionId: subscription, eventId: event, failed, since };
      return replayDeliveries(auditOnce(db, event), filter);
    },
    { creates: true },
  );
  const to = subscription === undefined ? '' : ' to this subscription';
  if (replayed === 0)
    throw new OperatorFault(
      switchedOff > 0
        ? `The subscription is switched off. Switch it on first: payments webhooks activate ID (see: payments webhooks list)`
        : failed
          ? `There is no failed delivery${to}. One that is pending is sent at once by: payments webhooks replay EVENT_ID`
          : `There is no delivery of this event${to}. See: payments webhooks deliveries`,
    );
  printJson({ replayed, switched_off: switchedOff });
  if (event !== undefined && process.stdout.isTTY)
    console.error(`To see the result: payments webhooks deliveries --event ${event}`);
}

export const workCommand = (): Command =>
  new Command('work')
    .description('run a worker that delivers webhooks; several workers may run at once')
    .action(work);

async function work(): Promise<void> {
  const deliverAll = async ({ database, secrets: { vault }, config }: OpenedService) => {
    const observed = await observe(config);
    observed.readFrom(database);
    const log = createLog(config.logLevel);
    for (const warning of config.warnings) log.warn(warning);
    // Loaded here, because the other commands do not need the HTTP client.
    const { sendOptions } = await import('../events/send.ts');
    const { startWorker } = await import('../events/worker.ts');
    const worker = startWorker({
      db: database.background.db,
      vault,
      log,
      now: () => new Date(),
      options: sendOptions(config),
      schedule: nextWait,
      noteAttempt: observed.metrics?.noteAttempt,
      tracing: observed.tracing,
    });
    log.info({ ...readBuild() }, 'delivering webhooks');
    await untilStopped();
    log.info('stopping: finishing running attempts');
    await worker.stop();
    await observed.close();
    log.info('stopped');
  };
  // For rounds, for metrics, and one to spare.
  await withService(deliverAll, { creates: true, size: 3 });
}
