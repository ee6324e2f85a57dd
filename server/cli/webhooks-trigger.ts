// `webhooks trigger`: events without a change, for trying a receiver out.
import { Argument, Command } from 'commander';
import { events, programName, type EventName } from '../../generated/operations.ts';
import { readCommandConfig } from '../config.ts';
import { loadShownRecords } from '../domain.ts';
import { printJson, withExamples, WrongCall } from '../kit/cli/output.ts';
import { uuid } from '../kit/cli/values.ts';
import type { Db } from '../kit/database/database.ts';
import type { AuditedChange, Target, UnitOfWork } from '../kit/database/unit-of-work.ts';
import { findWebhookSubscription } from '../kit/events/subscriptions/queries.ts';
import { OperatorFault } from '../kit/faults.ts';
import { exampleTarget, noSubscription, requireAccount, withService, type Call } from './service.ts';

export const triggerCommand = (call: Call): Command =>
  withExamples(
    new Command('trigger'),
    'webhooks trigger transaction.updated',
    'webhooks trigger --all --subscription ID',
  )
    .description(
      'send a test event to the subscriptions of an account, or to one of them; in the sandbox only',
    )
    .addArgument(new Argument('[event]', 'name of the event').choices(events))
    .option('--all', 'send every event of the contract, one of each')
    .option('--merchant-account <id>', 'account of the event (default: default, or that of the subscription)')
    .option('--subscription <id>', 'send it to this subscription only', uuid)
    .option('--id <id>', 'the record that it shows; by default the newest of the account', uuid)
    .addHelpText(
      'after',
      `
Nothing is changed. If the account has no such record, the event shows the example of the contract. It is valid, signed and
retried like any other, and a running server or worker delivers it.`,
    )
    .action((name: EventName | undefined, options: TriggerOptions) => trigger(call, name, options));

interface TriggerOptions {
  all?: boolean;
  merchantAccount?: string;
  subscription?: string;
  id?: string;
}

async function trigger(call: Call, name: EventName | undefined, options: TriggerOptions): Promise<void> {
  const { all, id } = options;
  if ((name === undefined) === (all === undefined))
    throw new WrongCall('Give the name of an event, or --all.');
  if (all && id !== undefined)
    throw new WrongCall('--id needs the name of an event: a record has events of one kind.');
  if (readCommandConfig().environment === 'production')
    throw new OperatorFault(
      'Events can be triggered only in the sandbox. In production, every event reports a real change.',
    );
  const sent = await withService(
    call,
    async ({ changeWithEvents }) => {
      const done = [];
      // Each in a transaction of its own, whose audit entry has the ID of the event.
      for (const one of name === undefined ? events : [name])
        done.push(await changeWithEvents((unit) => triggerOne(unit, one, options)));
      return done;
    },
    { creates: true },
  );
  const shown = sent.map(({ id: event, name: sentName, account, target, isExample, deliveries }) => ({
    event,
    name: sentName,
    merchant_account_id: account,
    target: target.id,
    is_example: isExample,
    subscriptions: deliveries,
  }));
  printJson(all ? { items: shown } : shown[0]);
  const [first] = sent;
  if (first?.deliveries === 0)
    console.error(
      `The account ${first.account} has no active subscription, so nobody receives the event. See: ${programName} webhooks list, ${programName} webhooks listen`,
    );
}

async function triggerOne(unit: UnitOfWork & AuditedChange, name: EventName, options: TriggerOptions) {
  const { merchantAccount, subscription, id } = options;
  const account = await accountOf(unit.db, subscription, merchantAccount);
  const triggered = await publishRecord(unit, name, account, options);
  if (!triggered)
    throw new OperatorFault(`There is no record ${id ?? ''} in the account ${account} for an event ${name}.`);
  await unit.audit({ about: triggered.id });
  return { ...triggered, name, account };
}

/** Without an ID the newest record of the account; undefined when it has none with this ID. */
async function publishRecord(
  unit: UnitOfWork,
  name: EventName,
  account: string,
  { id, subscription }: TriggerOptions,
) {
  const records = await loadShownRecords();
  const record = await records[name.slice(0, name.lastIndexOf('.'))]?.(unit, account, id);
  if (!unit.publish || (id !== undefined && !record)) return undefined;
  const example = exampleTarget(name);
  // Not every resource shows its account.
  const own = 'merchant_account_id' in example ? { merchant_account_id: account } : {};
  const target = record ?? { ...example, ...own };
  // The name is known only now, so the compiler cannot say which target it has. The outbox checks it against the contract.
  const published = await unit.publish(name, account, target as Target<EventName>, subscription);
  return { ...published, target: { id: undefined, ...target }, isExample: !record };
}

/** The account of the event. Refuses a subscription that would not get it. */
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
      `The subscription is switched off. Switch it on first: ${programName} webhooks activate ${subscription}`,
    );
  const { merchant_account_id: own } = found;
  if (own !== null && given !== undefined && given !== own)
    throw new OperatorFault(`The subscription receives no events of ${given}: it belongs to ${own}.`);
  return requireAccount(db, given ?? own ?? 'default');
}
