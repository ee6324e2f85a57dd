// `payments webhooks trigger EVENT`: sends an event without a change, so that a receiver can be tried out.
import { Argument, Command } from 'commander';
import { events, type EventName } from '../../generated/operations.ts';
import { triggerEvent } from '../sandbox/trigger-event.ts';
import { readCommandConfig } from '../config.ts';
import { loadContract, resolve } from '../contract/load.ts';
import type { Db } from '../database/database.ts';
import { findWebhookSubscription } from '../resources/webhook-subscriptions/queries.ts';
import { OperatorFault } from '../operator-fault.ts';
import { call, printJson } from './output.ts';
import { requireAccount, withEvents } from './support.ts';
import { uuid } from './values.ts';
import { noSubscription } from './webhooks-create.ts';

export const triggerCommand = (): Command =>
  new Command('trigger')
    .description(
      'send a test event to the subscriptions of an account, or to one of them; in the sandbox only',
    )
    .addArgument(new Argument('<event>', 'name of the event').choices(events))
    .option('--merchant-account <id>', 'account of the event (default: default, or that of the subscription)')
    .option('--subscription <id>', 'send it to this subscription only', uuid)
    .option('--id <id>', 'the record that it shows; by default the newest of the account', uuid)
    .addHelpText(
      'after',
      `
Nothing is changed. An account that has no such record sends the example of the contract. The event is valid, signed and
retried like any other, and a running server or worker delivers it.`,
    )
    .action(run);

interface Options {
  merchantAccount?: string;
  subscription?: string;
  id?: string;
}

async function run(name: EventName, { merchantAccount, subscription, id }: Options): Promise<void> {
  if (readCommandConfig().environment === 'production')
    throw new OperatorFault(
      'Events can be triggered only in the sandbox: in production every event is true.',
    );
  const done = await withEvents(({ inUnitOfWork }) =>
    inUnitOfWork(async (unit) => {
      const account = await accountOf(unit.db, subscription, merchantAccount);
      const wanted = { account, id, subscription, example: exampleOf(name) };
      const triggered = await triggerEvent(unit, name, wanted);
      if (!triggered)
        throw new OperatorFault(`${account} has no record ${id ?? ''} that ${name} could show.`);
      return { ...triggered, account };
    }),
  );
  printJson({
    event: done.id,
    name,
    merchant_account_id: done.account,
    target: done.target.id,
    is_example: done.isExample,
    subscriptions: done.deliveries,
  });
  if (done.deliveries === 0)
    console.error(
      `${done.account} has no active subscription, so nobody receives it. See: ${call('webhooks list')}, ${call('webhooks listen')}`,
    );
}

/** Of the event. Refuses a subscription that would not get it. */
async function accountOf(
  db: Db,
  subscription: string | undefined,
  given: string | undefined,
): Promise<string> {
  if (subscription === undefined) return requireAccount(db, given ?? 'default');
  const found = await findWebhookSubscription(db, subscription);
  if (!found) throw noSubscription(subscription);
  if (!found.active)
    throw new OperatorFault(
      `The subscription is switched off. Switch it on first: ${call(`webhooks activate ${subscription}`)}`,
    );
  const { merchant_account_id: own } = found;
  if (own !== null && given !== undefined && given !== own)
    throw new OperatorFault(`The subscription receives no events of ${given}: it belongs to ${own}.`);
  return requireAccount(db, given ?? own ?? 'default');
}

/** The target of the first example in the contract. */
function exampleOf(name: EventName): object {
  const { document } = loadContract();
  const { examples = {} } = document.webhooks[name]?.post.requestBody?.content['application/json'] ?? {};
  const [first] = Object.values(examples);
  const { value } = resolve<{ value?: { target?: object } }>(document, first as { $ref: string });
  if (!value?.target) throw new Error(`The contract has no example of ${name}.`);
  return value.target;
}
