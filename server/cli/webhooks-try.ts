// `payments webhooks listen` and `trigger`, for trying a receiver out: a local one, and events without a change.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { Argument, Command } from 'commander';
import { verifyWebhook, type WebhookEvent } from '../../client/webhooks.ts';
import { events, type EventName } from '../../generated/operations.ts';
import { readCommandConfig } from '../config.ts';
import type { Db } from '../database/database.ts';
import type { UnitOfWork } from '../database/unit-of-work.ts';
import { OperatorFault, reasonOf } from '../faults.ts';
import { commandsHere, shellWord } from '../installation.ts';
import { createSubscription, deleteSubscription } from '../resources/webhook-subscriptions/changes.ts';
import { findWebhookSubscription } from '../resources/webhook-subscriptions/queries.ts';
import { allAccounts } from '../rules/accounts.ts';
import { triggerEvent } from '../sandbox/trigger-event.ts';
import { visible, visibleLines } from '../visible.ts';
import { untilStopped } from './input.ts';
import { jsonText, printJson, withExamples, WrongCall } from './output.ts';
import {
  auditOnce,
  exampleTarget,
  noSubscription,
  publicUrlOf,
  requireAccount,
  withService,
  type OpenedService,
} from './service.ts';
import { uuid, whole } from './values.ts';

export const listenCommand = (): Command =>
  withExamples(new Command('listen'), "webhooks listen --merchant-account '*'")
    .description('start a local receiver, subscribe it, and print each event after checking its signature')
    .option('--port <number>', 'port of the receiver; any free one if left out', whole(0, 65_535), 0)
    .option('--merchant-account <id>', 'account whose events to receive; * is all', 'default')
    .action(listen);

interface ListenOptions {
  port: number;
  merchantAccount: string;
}

async function listen({ port, merchantAccount }: ListenOptions): Promise<void> {
  const listenIn = async ({ db, change, secrets: { vault }, config }: OpenedService) => {
    if (config.environment === 'production')
      throw new OperatorFault(
        'This works only in the sandbox: in production, webhooks are not delivered to local addresses.',
      );
    const all = merchantAccount === allAccounts;
    if (!all) await requireAccount(db, merchantAccount);
    // The receiver starts before its subscription, which needs its URL. An event may then arrive before the secret is known here.
    let know: (secret: string) => void = () => undefined;
    const secret = new Promise<string>((resolve) => (know = resolve));
    const server = createServer((req, res) => {
      Promise.all([buffer(req), secret])
        .then(([body, known]) => print(req.headers, body, known))
        .then(
          (genuine) => res.writeHead(genuine ? 204 : 400).end(),
          () => res.destroy(),
        );
    });
    const url = await startReceiver(server, port);
    const merchant_account_id = all ? null : merchantAccount;
    const wanted = { merchant_account_id, url, active: true, authentication: null };
    try {
      const made = await change((unit) => createSubscription(unit, wanted, vault));
      know(made.secret);
      console.log(
        `Listening on ${url} for events of ${all ? 'all accounts' : merchantAccount}. Press Ctrl-C to stop.`,
      );
      console.log(visibleLines(howTo(await publicUrlOf(db, config), all ? 'default' : merchantAccount)));
      await untilStopped();
      await deleteSubscription(auditOnce(db), made.row.id);
    } finally {
      // Otherwise the receiver keeps the process alive although it was refused a subscription.
      server.close();
      server.closeAllConnections();
    }
  };
  await withService(listenIn, { creates: true });
}

const howTo = (publicUrl: string, account: string) => `
To cause an event, run in another terminal:

  ${commandsHere().payments} webhooks trigger payment-method.created --merchant-account ${shellWord(account)}

or store a card:

  curl -X POST ${publicUrl}/payment-methods \\
    -H "Authorization: Bearer $(${commandsHere().payments} token --scopes payment-methods.write)" \\
    -H 'X-Service-Merchant-Account-ID: ${account}' -H 'Content-Type: application/json' \\
    -d '{"method":"card","number":"4111111111111111","expiration_date":"12/39"}'
`;

async function startReceiver(server: Server, port: number): Promise<string> {
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      failed(
        error.code === 'EADDRINUSE' ? new OperatorFault(`Port ${port} is taken. Leave out --port.`) : error,
      );
    });
    server.listen(port, '127.0.0.1', done);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** False when the delivery is not from the service. */
async function print(headers: IncomingHttpHeaders, body: Buffer, secret: string): Promise<boolean> {
  try {
    show(await verifyWebhook({ headers, body, secret }));
    return true;
  } catch (error) {
    console.log(`${styleText('red', '✗ signature')}  ${visible(reasonOf(error))}`);
    return false;
  }
}

function show(event: WebhookEvent): void {
  const { name, created_at, target } = event;
  const shown = [
    visible(created_at),
    styleText('bold', visible(name)),
    visible(target.id),
    // Not every resource has one.
    ...('status' in target ? [visible(target.status)] : []),
  ];
  console.log(`${styleText('green', '✓ signature')}  ${shown.join('  ')}`);
  console.log(styleText('dim', jsonText(event).replace(/^/gm, '  ')));
}

export const triggerCommand = (): Command =>
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
    .action(trigger);

interface TriggerOptions {
  all?: boolean;
  merchantAccount?: string;
  subscription?: string;
  id?: string;
}

async function trigger(name: EventName | undefined, options: TriggerOptions): Promise<void> {
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
      `The account ${first.account} has no active subscription, so nobody receives the event. See: payments webhooks list, payments webhooks listen`,
    );
}

async function triggerOne(
  unit: UnitOfWork,
  name: EventName,
  { merchantAccount, subscription, id }: TriggerOptions,
) {
  const account = await accountOf(unit.db, subscription, merchantAccount);
  const triggered = await triggerEvent(unit, name, {
    account,
    id,
    subscription,
    example: exampleTarget(name),
  });
  if (!triggered)
    throw new OperatorFault(`There is no record ${id ?? ''} in the account ${account} for an event ${name}.`);
  return { ...triggered, name, account };
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
      `The subscription is switched off. Switch it on first: payments webhooks activate ${subscription}`,
    );
  const { merchant_account_id: own } = found;
  if (own !== null && given !== undefined && given !== own)
    throw new OperatorFault(`The subscription receives no events of ${given}: it belongs to ${own}.`);
  return requireAccount(db, given ?? own ?? 'default');
}
