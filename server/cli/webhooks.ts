import { Command, Option } from 'commander';
import {
  replayDeliveries,
  rotateSubscription,
  switchSubscription,
} from '../resources/webhook-subscriptions/changes.ts';
import { readBuild } from '../build.ts';
import { isUuid } from '../rules/uuid.ts';
import { createLog } from '../log.ts';
import { observe } from '../upkeep/observe.ts';
import {
  findWebhookSubscription,
  listWebhookSubscriptions,
} from '../resources/webhook-subscriptions/queries.ts';
import { withJitter } from '../events/schedule.ts';
import { OperatorFault } from '../operator-fault.ts';
import { WrongCall } from './faults.ts';
import { asList, call, printJson, printRows, untilStopped, type ListOutput } from './output.ts';
import {
  auditOnce,
  inAuditedWork,
  requireAccount,
  withDatabase,
  withSecrets,
  withWork,
  type ServiceParts,
} from './support.ts';
import { duration, time, uuid, whole } from './values.ts';
import { createCommand, deleteCommand, noSubscription, warnIfUndeliverable } from './webhooks-create.ts';
import { deliveriesCommand, eventId, findEventId } from './webhooks-deliveries.ts';
import { listen } from './webhooks-listen.ts';
import { triggerCommand } from './webhooks-trigger.ts';

export function webhooks(): Command {
  const command = new Command('webhooks');
  asList(command.command('list'))
    .description('list subscriptions, newest first')
    .option('--merchant-account <id>', 'those that receive the events of this account')
    .action(async ({ merchantAccount, ...output }: ListOutput & { merchantAccount?: string }) => {
      const { rows, config } = await withDatabase(async ({ db }, read) => {
        const account = merchantAccount && (await requireAccount(db, merchantAccount));
        const all = await listWebhookSubscriptions(db);
        const isShown = (of: string | null) => !account || of === null || of === account;
        return { rows: all.filter((one) => isShown(one.merchant_account_id)), config: read };
      });
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
  command.addCommand(deliveriesCommand());
  command
    .command('replay')
    .description('deliver an event again, or all failed deliveries')
    .argument('[event]', 'its ID', eventId)
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
    throw new OperatorFault(
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

async function replay(
  event: string | undefined,
  { failed, since, subscription }: { failed?: boolean; since?: Date; subscription?: string },
): Promise<void> {
  if (since && !failed) throw new WrongCall(['--since needs --failed: it limits which failed deliveries.']);
  if ((event === undefined) === (failed === undefined))
    throw new WrongCall(['Give the ID of an event, or --failed.']);
  const { replayed, switchedOff } = await withDatabase(
    async ({ db }) => {
      const found = event && (await findEventId(db, event));
      if (subscription !== undefined && !(await findWebhookSubscription(db, subscription)))
        throw noSubscription(subscription);
      const filter = { subscriptionId: subscription, eventId: found, failed, since };
      return replayDeliveries(auditOnce(db, found), filter);
    },
    { creates: true },
  );
  const to = subscription === undefined ? '' : ' to this subscription';
  if (replayed === 0)
    throw new OperatorFault(
      switchedOff > 0
        ? `The subscription is switched off. Switch it on first: ${call('webhooks activate ID')} (see: ${call('webhooks list')})`
        : failed
          ? `There is no failed delivery${to}. One that is pending is sent at once by: ${call('webhooks replay EVENT_ID')}`
          : `There is no delivery of this event${to}. See: ${call('webhooks deliveries')}`,
    );
  printJson({ replayed, switched_off: switchedOff });
  if (event !== undefined && process.stdout.isTTY)
    console.error(`To see the result: ${call(`webhooks deliveries --event ${event}`)}`);
}

async function work(): Promise<void> {
  const deliverAll = async ({ database, secrets: { vault }, config }: ServiceParts) => {
    const { db } = database;
    const observed = await observe(config);
    observed.readFrom(database);
    const log = createLog(config.logLevel);
    for (const warning of config.warnings ?? []) log.warn(warning);
    // Loaded here, because the other commands do not need the HTTP client.
    const { sendOptions } = await import('../events/send.ts');
    const { startWorker } = await import('../events/worker.ts');
    const worker = startWorker({
      db,
      isSharded: database.isSharded,
      vault,
      log,
      now: () => new Date(),
      options: sendOptions(config),
      schedule: withJitter,
      noteAttempt: observed.metrics?.noteAttempt,
      tracing: observed.tracing,
    });
    const listening = database.onDeliveries(worker.wake);
    log.info({ ...readBuild() }, 'delivering webhooks');
    await untilStopped();
    listening.stop();
    log.info('stopping: finishing running attempts');
    await worker.stop();
    await observed.close();
    log.info('stopped');
  };
  // For rounds, for metrics, and one to spare.
  await withSecrets(deliverAll, { size: 3 });
}
