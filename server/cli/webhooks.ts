import { Command, Option } from 'commander';
import {
  replayDeliveries,
  rotateSubscription,
  switchSubscription,
} from '../actions/webhook-subscriptions.ts';
import { readBuild } from '../build.ts';
import { isUuid } from '../domain/uuid.ts';
import { createLog } from '../log.ts';
import { observe } from '../observe.ts';
import type { Db } from '../store/database.ts';
import { countPending, listDeliveries } from '../store/delivery-list.ts';
import { findPaymentMethodOfAnyAccount } from '../store/payment-methods.ts';
import { findTransactionOfAnyAccount } from '../store/transactions.ts';
import { listWebhookSubscriptions } from '../store/webhook-subscriptions.ts';
import { findNextAttempts } from '../webhooks/queue.ts';
import { withJitter } from '../webhooks/schedule.ts';
import { sendOptions } from '../webhooks/send.ts';
import { startWorker } from '../webhooks/worker.ts';
import { WrongCall } from './faults.ts';
import { asList, call, printJson, printRows, Refused, untilStopped, type ListOutput } from './output.ts';
import {
  inAuditedWork,
  requireAccount,
  withDatabase,
  withEvents,
  withSecrets,
  withWork,
  type EventParts,
} from './support.ts';
import { duration, limit, time, uuid, whole } from './values.ts';
import { createCommand, deleteCommand, noSubscription, warnIfUndeliverable } from './webhooks-create.ts';
import { listen } from './webhooks-listen.ts';
import { triggerCommand } from './webhooks-trigger.ts';

export function webhooks(): Command {
  const command = new Command('webhooks');
  asList(command.command('list'))
    .description('list subscriptions, newest first')
    .action(async (output: ListOutput) => {
      const { rows, config } = await withDatabase(async ({ db }, read) => ({
        rows: await listWebhookSubscriptions(db),
        config: read,
      }));
      const shown = rows.map(({ id, merchant_account_id, active, url, failing_since }) => ({
        id,
        account: merchant_account_id ?? 'all',
        active,
        url,
        failing_since,
      }));
      // In production, `listen` is refused.
      const make = config.environment === 'production' ? 'webhooks create URL' : 'webhooks listen';
      const whenEmpty = `There is no subscription. Make one: ${call(make)}`;
      // Two receivers of one host are told apart by their paths.
      printRows(shown, output, { whenEmpty, least: ['failing_since', 'account'] });
      // Not among the rows, which have the same columns for programs.
      if (!output.json)
        for (const { id, url } of rows.filter(({ active }) => active)) warnIfUndeliverable(id, url, config);
    });
  command.addCommand(createCommand()).addCommand(triggerCommand());
  command
    .command('rotate <id>')
    .description('create a new secret; the old one also signs until it expires')
    .addOption(
      new Option('--keep <time>', 'how long the old one stays valid: 30m, 24h, 7d')
        .argParser(duration('--keep'))
        .default(24 * 3_600_000, '24h'),
    )
    .action(rotate);
  command
    .command('activate <id>')
    .description('switch a subscription on, also one that was switched off because it failed')
    .action((id: string) => switchTo(id, true));
  command
    .command('deactivate <id>')
    .description(
      'switch a subscription off: pending deliveries fail when their next attempt is due, and can be replayed later',
    )
    .action((id: string) => switchTo(id, false));
  command.addCommand(deleteCommand());
  asList(command.command('deliveries'))
    .description(
      'show attempts with time, status, duration and error, and when the next one is due; newest delivery first',
    )
    .option('--subscription <id>', 'of this subscription', uuid)
    .option('--merchant-account <id>', 'of this account')
    .option('--record <id>', 'about this transaction or payment method', uuid)
    .option('--event <id>', 'of this event', uuid)
    .option('--failed', 'only failed deliveries, which are not retried any more')
    .option('--since <time>', 'only those created since then', time('--since'))
    .option('--limit <number>', 'how many deliveries', limit(100_000), 50)
    .action(deliveries);
  command
    .command('replay')
    .description('deliver an event again, or all failed deliveries')
    .argument('[event]', 'its ID', (text) => {
      if (!isUuid(text)) throw new Refused(`${text} is not an event ID.`);
      return text;
    })
    .option('--failed', 'all failed deliveries, which are not retried any more')
    .option('--since <time>', 'with --failed: those created since then', time('--since'))
    .option('--subscription <id>', 'only to this subscription', uuid)
    .action(replay);
  command
    .command('work')
    .description('run a worker that delivers webhooks; several workers may run at once')
    .action(work);
  command
    .command('listen')
    .description('start a local receiver, subscribe it, and print each event after checking its signature')
    .option(
      '--port <number>',
      'port of the receiver; any free one if left out',
      whole(0, 65_535, '--port is a number from 0 to 65535.'),
      0,
    )
    .option('--merchant-account <id>', 'account whose events to receive; * is all', 'default')
    .action(listen);
  return command;
}

async function rotate(id: string, { keep: keepMilliseconds }: { keep: number }): Promise<void> {
  if (!isUuid(id)) throw noSubscription(id);
  const rotated = await withSecrets(async ({ database: { db }, secrets: { vault } }) => {
    const done = await inAuditedWork(db, (work) => rotateSubscription(work, id, keepMilliseconds, vault));
    if (done) return done;
    const found = (await listWebhookSubscriptions(db)).find((one) => one.id === id.toLowerCase());
    if (!found) throw noSubscription(id);
    throw new Refused(
      `The secret was rotated before, and the old one is valid until ${found.old_secret_until?.toISOString() ?? ''}. Wait until then, or invalidate both old secrets now with --keep 0s.`,
    );
  });
  const { secret, until } = rotated;
  printJson({ id, secret, rotating: until > new Date(), old_secret_until: until });
}

async function switchTo(id: string, active: boolean): Promise<void> {
  const done = isUuid(id) && (await withWork((unit) => switchSubscription(unit, id, active)));
  if (!done) throw noSubscription(id);
  printJson({ id, active });
}

interface DeliveriesOptions extends ListOutput {
  subscription?: string;
  merchantAccount?: string;
  record?: string;
  event?: string;
  failed?: boolean;
  since?: Date;
  limit: number;
}

async function deliveries(options: DeliveriesOptions): Promise<void> {
  const { subscription, merchantAccount, record, event, json, wide, ...filter } = options;
  const { rows, next, isOff, waiting } = await withDatabase(async ({ db }) => {
    const of = {
      subscriptionId: subscription,
      accountId: merchantAccount && (await requireAccount(db, merchantAccount)),
      record: record === undefined ? undefined : await findRecord(db, record),
      eventId: event,
    };
    const found = await listDeliveries(db, { ...of, ...filter });
    const pending = found.filter(({ state }) => state === 'pending');
    const off = (await listWebhookSubscriptions(db)).filter(({ active }) => !active);
    return {
      rows: found,
      next: await findNextAttempts(db, pending),
      isOff: (id: string) => off.some((one) => one.id === id),
      waiting:
        filter.failed && found.length === 0 ? await countPending(db, of) : { retried: 0, switchedOff: 0 },
    };
  });
  const now = Date.now();
  const last = new Map<string, number | null>();
  for (const { id, number } of rows) last.set(id, Math.max(number ?? 0, last.get(id) ?? 0));
  // State and next attempt are those of the delivery: people would take them for the result of each attempt.
  const isLast = ({ id, number }: (typeof rows)[number]) => json === true || (number ?? 0) === last.get(id);
  const shown = rows.map((row) => ({
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
    // A response without an error of its own is a failure, too, unless its status is 2xx.
    error: row.error ?? (json ? null : failedStatus(row.status)),
    next_attempt: json
      ? (next.get(row.id) ?? null)
      : isLast(row)
        ? nextAttempt(untilThen(next.get(row.id), now), isOff(row.subscription_id))
        : null,
  }));
  printRows(
    shown,
    { json, wide },
    {
      whenEmpty: filter.failed ? noFailed(waiting) : 'There is no delivery.',
      least: ['ms', 'account', 'record', 'subscription', 'name', 'status', 'attempt', 'at'],
      textMatters: true,
    },
  );
}

async function findRecord(db: Db, id: string) {
  const found = (await findTransactionOfAnyAccount(db, id)) ?? (await findPaymentMethodOfAnyAccount(db, id));
  if (!found)
    throw new Refused(
      `There is no transaction and no payment method ${id}. See: ${call("transactions list --merchant-account '*'")}`,
    );
  return found;
}

const failedStatus = (status: number | null): string | null =>
  status === null || Math.floor(status / 100) === 2 ? null : `HTTP ${status}`;

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

function untilThen(due: Date | undefined, now: number): string | undefined {
  if (!due) return undefined;
  const seconds = Math.round((due.getTime() - now) / 1000);
  if (seconds <= 0) return 'now';
  if (seconds < 100) return `in ${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}

async function replay(
  event: string | undefined,
  { failed, since, subscription }: { failed?: boolean; since?: Date; subscription?: string },
): Promise<void> {
  if (since && !failed) throw new WrongCall(['--since needs --failed: it limits which failed deliveries.']);
  if ((event === undefined) === (failed === undefined))
    throw new WrongCall(['Give the ID of an event, or --failed.']);
  const filter = { subscriptionId: subscription, eventId: event, failed, since };
  const { replayed, switchedOff } = await withEvents(({ database: { db }, queue }) =>
    inAuditedWork(db, async (unit) => {
      const done = await replayDeliveries(unit, filter, (tx, due) => queue.add(tx, due));
      if (done.replayed > 0) return done;
      throw new Refused(
        done.switchedOff > 0
          ? `The subscription is switched off. Switch it on first: ${call('webhooks activate ID')} (see: ${call('webhooks list')})`
          : failed
            ? `There is no failed delivery. One that is pending is sent at once by: ${call('webhooks replay EVENT_ID')}`
            : `There is no delivery of this event. See: ${call('webhooks deliveries')}`,
      );
    }),
  );
  printJson({ replayed, switched_off: switchedOff });
}

async function work(): Promise<void> {
  const deliverAll = async ({ database, secrets: { vault }, queue, config }: EventParts) => {
    const { db } = database;
    const observed = await observe(config);
    observed.readFrom({ database, queue });
    const log = createLog(config.logLevel);
    for (const warning of config.warnings ?? []) log.warn(warning);
    const worker = startWorker({
      db,
      queue,
      vault,
      log,
      now: () => new Date(),
      options: sendOptions(config),
      schedule: withJitter,
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
  // Eight connections: for recording attempts, for the queue and for its supervision.
  await withEvents(deliverAll, { supervise: true, size: 8 });
}
