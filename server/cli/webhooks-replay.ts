// `webhooks replay`: deliveries that are sent again, or at once.
import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import { printJson, withExamples, WrongCall } from '../kit/cli/output.ts';
import { time, uuid } from '../kit/cli/values.ts';
import { replayDeliveries } from '../kit/events/subscriptions/changes.ts';
import { findWebhookSubscription } from '../kit/events/subscriptions/queries.ts';
import { OperatorFault } from '../kit/faults.ts';
import { auditOnce, noSubscription, withService, type Call } from './service.ts';

export const replayCommand = (call: Call): Command =>
  withExamples(
    new Command('replay'),
    'webhooks replay EVENT_ID',
    'webhooks replay --failed --since 24h',
    'webhooks replay --pending SUBSCRIPTION_ID',
  )
    .description('deliver an event again, all failed deliveries, or at once what waits for its next attempt')
    .argument('[event]', 'its ID', uuid)
    .option('--failed', 'all failed deliveries, which are not retried any more')
    .option('--since <time>', 'with --failed: those created since then', time)
    .option('--pending <subscription>', 'what waits for this subscription, such as after a repair', uuid)
    .option('--subscription <id>', 'only to this subscription', uuid)
    .action((event: string | undefined, options: ReplayOptions) => replay(call, event, options));

interface ReplayOptions {
  failed?: boolean;
  pending?: string;
  since?: Date;
  subscription?: string;
}

async function replay(
  call: Call,
  event: string | undefined,
  { failed, pending, since, subscription: given }: ReplayOptions,
): Promise<void> {
  if (since && !failed)
    throw new WrongCall('--since needs --failed: it selects failed deliveries by their age.');
  if ([event, failed, pending].filter((one) => one !== undefined).length !== 1)
    throw new WrongCall('Give the ID of an event, --failed, or --pending with the ID of a subscription.');
  if (pending !== undefined && given !== undefined)
    throw new WrongCall('--pending names the subscription itself. Leave out --subscription.');
  const subscription = pending ?? given;
  const { replayed, switchedOff, off } = await withService(
    call,
    async ({ db }) => {
      if (subscription !== undefined && !(await findWebhookSubscription(db, subscription)))
        throw noSubscription(subscription);
      const isPending = pending !== undefined;
      const filter = { subscriptionId: subscription, eventId: event, failed, pending: isPending, since };
      return replayDeliveries(auditOnce(db, call, event), filter);
    },
    { creates: true },
  );
  const to = subscription === undefined ? '' : ' to this subscription';
  if (replayed === 0)
    throw new OperatorFault(
      off.size > 0
        ? howToActivate([...off])
        : pending !== undefined
          ? `Nothing waits for this subscription. To see its deliveries: ${programName} webhooks deliveries --subscription ID`
          : failed
            ? `There is no failed delivery${to}. To send pending ones at once: ${programName} webhooks replay EVENT_ID, or --pending SUBSCRIPTION_ID`
            : `There is no delivery of this event${to}. See: ${programName} webhooks deliveries`,
    );
  printJson({ replayed, switched_off: switchedOff });
  if (off.size > 0) console.error(howToActivate([...off]));
  if (event !== undefined && process.stdout.isTTY)
    console.error(`To see the result: ${programName} webhooks deliveries --event ${event}`);
}

const howToActivate = (ids: string[]): string =>
  `${ids.length === 1 ? 'A subscription is' : `${ids.length} subscriptions are`} switched off. Switch on, and replay again: ` +
  ids.map((id) => `${programName} webhooks activate ${id}`).join(' && ');
