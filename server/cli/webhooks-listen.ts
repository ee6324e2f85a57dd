// `payments webhooks listen`: starts a local receiver, subscribes it, prints every event, and unsubscribes at the end.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { verifyWebhook, type WebhookEvent } from '../../client/webhooks.ts';
import { createSubscription, deleteSubscription } from '../resources/webhook-subscriptions/changes.ts';
import { visible, visibleLines } from '../visible.ts';
import { OperatorFault } from '../operator-fault.ts';
import { call, jsonText, shellWord, untilStopped } from './output.ts';
import { inAuditedWork, requireAccount, publicUrlOf, withSecrets } from './support.ts';

interface Options {
  port: number;
  merchantAccount: string;
}

export async function listen({ port, merchantAccount }: Options): Promise<void> {
  await withSecrets(async ({ database: { db }, secrets: { vault }, config }) => {
    if (config.environment === 'production')
      throw new OperatorFault(
        'This works only in the sandbox: in production, webhooks are not delivered to local addresses.',
      );
    const all = merchantAccount === '*';
    if (!all) await requireAccount(db, merchantAccount);
    const receiver = await startReceiver(port);
    const { server, url } = receiver;
    const subscription = {
      merchant_account_id: all ? null : merchantAccount,
      url,
      active: true,
      authentication: null,
    };
    try {
      const { row, secret } = await inAuditedWork(db, (work) =>
        createSubscription(work, subscription, vault),
      );
      receiver.printWith(secret);
      console.log(
        `Listening on ${url} for events of ${all ? 'all accounts' : merchantAccount}. Press Ctrl-C to stop.`,
      );
      console.log(visibleLines(howTo(await publicUrlOf(db, config), all ? 'default' : merchantAccount)));
      await untilStopped();
      await inAuditedWork(db, (work) => deleteSubscription(work, row.id));
    } finally {
      // Otherwise the receiver keeps the process alive although it was refused a subscription.
      server.close();
      server.closeAllConnections();
    }
  });
}

const howTo = (publicUrl: string, account: string) => `
To cause an event, run in another terminal:

  ${call('webhooks trigger payment-method.created')} --merchant-account ${shellWord(account)}

or store a card:

  curl -X POST ${publicUrl}/payment-methods \\
    -H "Authorization: Bearer $(${call('token --scopes payment-methods.write')})" \\
    -H 'X-Service-Merchant-Account-ID: ${account}' -H 'Content-Type: application/json' \\
    -d '{"method":"card","number":"4111111111111111","expiration_date":"12/39"}'
`;

interface Receiver {
  server: Server;
  url: string;
  /** Called after the subscription exists: that needs the receiver's URL, and the receiver needs its secret. */
  printWith: (secret: string) => void;
}

async function startReceiver(port: number): Promise<Receiver> {
  let subscribed: (secret: string) => void = () => undefined;
  const secret = new Promise<string>((resolve) => {
    subscribed = resolve;
  });
  const server = createServer((req, res) => {
    Promise.all([buffer(req), secret])
      .then(([body, known]) => print(req.headers, body, known))
      .then(
        (genuine) => res.writeHead(genuine ? 204 : 400).end(),
        () => res.destroy(),
      );
  });
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      failed(
        error.code === 'EADDRINUSE' ? new OperatorFault(`Port ${port} is taken. Leave out --port.`) : error,
      );
    });
    server.listen(port, '127.0.0.1', done);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { server, url, printWith: subscribed };
}

/** False when the delivery is not from the service. */
async function print(headers: IncomingHttpHeaders, body: Buffer, secret: string): Promise<boolean> {
  try {
    show(await verifyWebhook({ headers, body, secret }));
    return true;
  } catch (error) {
    console.log(
      `${styleText('red', '✗ signature')}  ${visible(error instanceof Error ? error.message : String(error))}`,
    );
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
