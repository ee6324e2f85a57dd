// `payments webhooks trigger EVENT`: sends an event without a change, so that a receiver can be tried out.
import { Argument, Command } from 'commander';
import { events, type EventName } from '../../generated/operations.ts';
import { triggerEvent } from '../actions/events.ts';
import { readCommandConfig } from '../config.ts';
import { loadContract, resolve } from '../contract/load.ts';
import { call, printJson, Refused } from './output.ts';
import { requireAccount, withEvents } from './support.ts';
import { uuid } from './values.ts';

export const triggerCommand = (): Command =>
  new Command('trigger')
    .description('send an event to the subscriptions of an account, without a change; in the sandbox only')
    .addArgument(new Argument('<event>', 'name of the event').choices(events))
    .option('--merchant-account <id>', 'account of the event', 'default')
    .option('--id <id>', 'the record that it shows; by default the newest of the account', uuid)
    .addHelpText(
      'after',
      `
An account that has no such record sends the example of the contract. The event is valid, signed and retried like any
other, and a running server or worker delivers it.`,
    )
    .action(run);

async function run(
  name: EventName,
  { merchantAccount: account, id }: { merchantAccount: string; id?: string },
): Promise<void> {
  if (readCommandConfig().environment === 'production')
    throw new Refused('Events can be triggered only in the sandbox: in production every event is true.');
  const done = await withEvents(({ inUnitOfWork }) =>
    inUnitOfWork(async (unit) => {
      await requireAccount(unit.db, account);
      return triggerEvent(unit, name, { account, id, example: exampleOf(name) });
    }),
  );
  if (!done) throw new Refused(`${account} has no record ${id ?? ''} that ${name} could show.`);
  printJson({
    event: done.id,
    name,
    merchant_account_id: account,
    target: done.target.id,
    is_example: done.isExample,
    subscriptions: done.deliveries,
  });
  if (done.deliveries === 0)
    console.error(
      `${account} has no active subscription, so nobody receives it. See: ${call('webhooks list')}, ${call('webhooks listen')}`,
    );
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
