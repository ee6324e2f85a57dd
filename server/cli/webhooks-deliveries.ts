// `webhooks deliveries` and `work`: what became of each delivery and why. Those that are sent again: webhooks-replay.ts.
import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import * as domain from '../domain.ts';
import { untilStopped } from '../kit/cli/input.ts';
import { printRows, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { time, uuid, whole } from '../kit/cli/values.ts';
import type { Db } from '../kit/database/database.ts';
import { nextWait } from '../kit/events/attempts.ts';
import {
  findEventBody,
  listDeliveries,
  listRecentAttempts,
  type Delivery,
  type DeliveryFilter,
} from '../kit/events/delivery-list.ts';
import { OperatorFault } from '../kit/faults.ts';
import { readBuild } from '../kit/installation.ts';
import { createLog } from '../kit/log/log.ts';
import { visible, visibleLines } from '../kit/log/visible.ts';
import { observe } from '../kit/maintenance/observe.ts';
import { allAccounts } from '../kit/rules/accounts.ts';
import { requireAccount, withService, type Call, type OpenedService } from './service.ts';

export const deliveriesCommand = (call: Call): Command =>
  withExamples(
    new Command('deliveries'),
    'webhooks deliveries --limit 20',
    'webhooks deliveries --subscription ID --failed --since 2h',
    'webhooks deliveries --event ID --body',
    'webhooks deliveries --follow',
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
    .option('--wide', 'one line for each, with all columns')
    .option('--follow', 'show each attempt when it has ended, until Ctrl-C; with --json one line for each')
    .action((options: DeliveriesOptions) => deliveries(call, options));

interface DeliveriesOptions extends JsonOption {
  subscription?: string;
  merchantAccount?: string;
  record?: string;
  event?: string;
  body?: boolean;
  failed?: boolean;
  since?: Date;
  limit: number;
  wide?: boolean;
  follow?: boolean;
}

async function deliveries(call: Call, options: DeliveriesOptions): Promise<void> {
  const { subscription, merchantAccount, record, event, body, failed, since, limit, wide, follow, json } =
    options;
  if (body) return printBody(call, event);
  const found = await withService(
    call,
    async ({ db }) => {
      const isOfOne = merchantAccount !== undefined && merchantAccount !== allAccounts;
      const filter = {
        subscriptionId: subscription,
        accountId: isOfOne ? await requireAccount(db, merchantAccount) : undefined,
        // The events of a record that is not found are searched for among all events.
        record: record === undefined ? undefined : ((await domain.findRecord(db, record)) ?? { id: record }),
        eventId: event,
        failed,
        since,
      };
      return follow ? followAttempts(db, filter, json) : listDeliveries(db, filter, limit);
    },
    // An account may have millions of events to search through.
    { isLong: record !== undefined },
  );
  if (!found) return;
  const about = record === undefined ? '' : ` of an event about ${record}`;
  const whenEmpty = failed
    ? `There is no failed delivery. To see those that are still tried: ${programName} webhooks deliveries`
    : `There is no delivery${about}.`;
  const isDetailed = event !== undefined || record !== undefined;
  const forReaders = (one: Delivery) => rowsForPeople(one, isDetailed);
  if (json) printRows(found.flatMap(rowsOf), { json }, whenEmpty);
  else if (wide) printRows(found.flatMap(forReaders), {}, whenEmpty);
  else if (found.length === 0) console.log(whenEmpty);
  else for (const delivery of found) for (const row of forReaders(delivery)) printBlock(row, delivery);
}

/** Asks every second, because workers of other processes make most attempts. */
async function followAttempts(db: Db, filter: DeliveryFilter, json: boolean | undefined): Promise<undefined> {
  const stopped = untilStopped({ orUnread: true }).then(() => true);
  const keyOf = ({ id, number }: { id: string; number: number }) => `${id} ${number}`;
  let known = new Set((await listRecentAttempts(db)).map(keyOf));
  console.error('Waiting for attempts. Press Ctrl-C to stop.');
  while (!(await Promise.race([stopped, setTimeout(1000, false, { ref: false })]))) {
    const recent = await listRecentAttempts(db);
    const fresh = new Set(recent.map(keyOf).filter((key) => !known.has(key)));
    known = new Set(recent.map(keyOf));
    const only = recent.filter((one) => fresh.has(keyOf(one)));
    const found = only.length === 0 ? [] : await listDeliveries(db, { ...filter, only }, only.length);
    const ended = found.flatMap((delivery) =>
      rowsOf(delivery)
        .filter(({ attempt }) => fresh.has(keyOf({ id: delivery.id, number: attempt ?? 0 })))
        .map((row) => ({ row, delivery })),
    );
    for (const { row, delivery } of ended.sort((one, other) => Number(one.row.at) - Number(other.row.at)))
      if (json) console.log(visible(JSON.stringify(row)));
      else printBlock(forPeople(row, delivery, true), delivery);
  }
}

/** How wide a terminal is on which IDs must not be cut: no command takes a part of one. */
const mostCharacters = 100;

/** What happened, in one line; the IDs in the next; if there is more to say, what the receiver said and when it is tried again. */
function printBlock(row: ReturnType<typeof forPeople>, { created_at, url }: Delivery): void {
  const time = (row.at ?? created_at).toISOString().replace(/\.\d+Z$/, 'Z');
  const happened = [
    (row.state ?? '').padEnd(9),
    String(row.status ?? '-').padEnd(3),
    time,
    row.name.padEnd(22),
  ];
  const isRetried = row.attempt !== null && (row.attempt > 1 || row.next_attempt !== null);
  const more = [
    isRetried && `attempt ${row.attempt}`,
    row.next_attempt !== null && `next ${row.next_attempt}`,
    row.error,
  ].filter((text) => typeof text === 'string');
  const lines = [
    [...happened, new URL(url).host].join('  '),
    `  event ${row.event}  subscription ${row.subscription}`,
    ...(more.length > 0 ? [`  ${more.join(', ')}`] : []),
  ];
  for (const line of lines) console.log(shortened(visible(line)));
}

const shortened = (line: string): string =>
  line.length > mostCharacters ? `${line.slice(0, mostCharacters - 1)}…` : line;

function rowsOf(delivery: Delivery) {
  const attempts = delivery.attempts.length > 0 ? delivery.attempts : [undefined];
  return attempts.map((attempt) => ({
    event: delivery.event_id,
    name: delivery.name,
    record: delivery.record,
    account: delivery.merchant_account_id,
    subscription: delivery.subscription_id,
    state: delivery.state,
    attempt: attempt?.number ?? null,
    at: attempt?.at ?? null,
    status: attempt?.status ?? null,
    ms: attempt?.milliseconds ?? null,
    error: attempt?.error ?? null,
    answer: attempt?.answer ?? null,
    next_attempt: delivery.next,
  }));
}

const rowsForPeople = (delivery: Delivery, isDetailed: boolean) =>
  rowsOf(delivery)
    .slice(isDetailed ? 0 : -1)
    .map((row, index, { length }) => forPeople(row, delivery, index === length - 1));

/** State and next attempt are not shown with earlier ones, whose results they are not. */
const forPeople = (
  { answer, ...row }: ReturnType<typeof rowsOf>[number],
  delivery: Delivery,
  isLast: boolean,
) => ({
  ...row,
  state: isLast ? row.state : null,
  error: [row.error, answer].filter(Boolean).join(': ') || null,
  next_attempt: isLast ? nextOf(delivery) : null,
});

async function printBody(call: Call, event: string | undefined): Promise<void> {
  if (event === undefined) throw new WrongCall('--body needs --event: the event whose body to print.');
  const body = await withService(call, async ({ db }) => findEventBody(db, event));
  if (body === undefined) throw new OperatorFault(`There is no delivery of the event ${event}.`);
  console.log(visibleLines(body));
}

/** When the next attempt is due. It is not made if the subscription is switched off. */
function nextOf({ next, active }: Delivery): string | null {
  if (!next) return null;
  const seconds = Math.max(0, Math.round((next.getTime() - Date.now()) / 1000));
  const minutes = Math.round(seconds / 60);
  let then = seconds === 0 ? 'now' : `in ${seconds} s`;
  if (seconds >= 100) then = minutes < 100 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
  return active ? then : `fails ${then}`;
}

export const workCommand = (call: Call): Command =>
  new Command('work')
    .description('run a worker that delivers webhooks; several workers may run at once')
    .action(() => work(call));

async function work(call: Call): Promise<void> {
  const deliverAll = async ({ database, secrets: { vault }, config }: OpenedService) => {
    const { facts } = await domain.loadFacts();
    const observed = await observe(config, database, facts, () => new Date());
    const log = createLog(config.logLevel);
    for (const warning of config.warnings) log.warn(warning);
    // Loaded here, because the other commands do not need the HTTP client.
    const { sendOptions } = await import('../kit/events/send.ts');
    const { startWorker } = await import('../kit/events/worker.ts');
    const worker = startWorker({
      db: database.background.db,
      vault,
      log,
      options: sendOptions(config),
      schedule: nextWait,
      noteAttempt: observed.metrics?.noteAttempt,
      tracing: observed.tracing,
    });
    const stopped = untilStopped();
    log.info({ ...readBuild() }, 'delivering webhooks');
    await stopped;
    log.info('stopping: finishing running attempts');
    await worker.stop();
    await observed.close();
    log.info('stopped');
  };
  // For rounds, for metrics, and one to spare.
  await withService(call, deliverAll, { creates: true, size: 3 });
}
