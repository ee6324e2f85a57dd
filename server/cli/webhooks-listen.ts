// `webhooks listen`: a local receiver that subscribes itself, shows each event, and may hand it on to another receiver.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { Command } from 'commander';
import { verifyWebhook, type WebhookEvent } from '../../client/webhooks.ts';
import { programName } from '../../generated/operations.ts';
import { firstEvent } from '../domain.ts';
import { untilStopped } from '../kit/cli/input.ts';
import { jsonText, withExamples, WrongCall } from '../kit/cli/output.ts';
import { whole } from '../kit/cli/values.ts';
import type { Db } from '../kit/database/database.ts';
import { createSubscription, deleteSubscription } from '../kit/events/subscriptions/changes.ts';
import { listAllSubscriptions } from '../kit/events/subscriptions/queries.ts';
import { OperatorFault, reasonOf } from '../kit/faults.ts';
import { commandIn, shellWord } from '../kit/installation.ts';
import { visible, visibleLines } from '../kit/log/visible.ts';
import { allAccounts } from '../kit/rules/accounts.ts';
import {
  auditOnce,
  publicUrlOf,
  requireAccount,
  withService,
  type Call,
  type OpenedService,
} from './service.ts';

export const listenCommand = (call: Call): Command =>
  withExamples(
    new Command('listen'),
    "webhooks listen --merchant-account '*'",
    'webhooks listen --forward-to http://localhost:3000/hook',
  )
    .description('start a local receiver, subscribe it, and print each event after checking its signature')
    .option('--port <number>', 'port of the receiver; any free one if left out', whole(0, 65_535), 0)
    .option('--merchant-account <id>', 'account whose events to receive; * is all', 'default')
    .option('--forward-to <url>', 'hand each event on to your receiver, and print what it answers')
    .action((options: ListenOptions) => listen(call, options));

interface ListenOptions {
  port: number;
  merchantAccount: string;
  forwardTo?: string;
}

async function listen(call: Call, { port, merchantAccount, forwardTo }: ListenOptions): Promise<void> {
  if (forwardTo !== undefined && !(/^https?:/i.test(forwardTo) && URL.canParse(forwardTo)))
    throw new WrongCall('--forward-to needs a URL such as http://localhost:3000/hook.');
  const listenIn = async ({ db, change, secrets: { vault }, config }: OpenedService) => {
    if (config.environment === 'production')
      throw new OperatorFault(
        'This works only in the sandbox: in production, webhooks are not delivered to local addresses.',
      );
    const all = merchantAccount === allAccounts;
    if (!all) await requireAccount(db, merchantAccount);
    await deleteAbandoned(db, call);
    // The receiver starts before its subscription, which needs its URL. An event may then arrive before the secret is known here.
    let know: (secret: string) => void = () => undefined;
    const secret = new Promise<string>((resolve) => (know = resolve));
    const server = createServer((req, res) => {
      if (req.method === 'GET') {
        res.end(sign);
        return;
      }
      Promise.all([buffer(req), secret])
        .then(([body, known]) => statusFor(req.headers, body, known, forwardTo))
        .then(
          (status) => res.writeHead(status).end(),
          () => res.destroy(),
        );
    });
    const url = await startReceiver(server, port);
    const merchant_account_id = all ? null : merchantAccount;
    const wanted = { merchant_account_id, url, active: true, authentication: null };
    try {
      const made = await change(async (unit) => {
        const subscription = await createSubscription(unit, wanted, vault);
        if (subscription.kind === 'tooMany') throw new OperatorFault(subscription.reason);
        await unit.audit({ about: subscription.row.id });
        return subscription;
      });
      know(made.secret);
      const address = await publicUrlOf(db, config);
      // Before what it prints: whoever has read that may stop it.
      const stopped = untilStopped();
      console.log(
        `Listening on ${url} for events of ${all ? 'all accounts' : merchantAccount}. Press Ctrl-C to stop.`,
      );
      if (forwardTo !== undefined)
        console.log(`\nTheir signatures need this secret in your receiver, until you stop: ${made.secret}`);
      console.log(visibleLines(howTo(commandIn(config.dataDir), address, all ? 'default' : merchantAccount)));
      await stopped;
      await deleteSubscription(auditOnce(db, call, made.row.id), made.row.id);
    } finally {
      // Otherwise the receiver keeps the process alive although it was refused a subscription.
      server.close();
      server.closeAllConnections();
    }
  };
  await withService(call, listenIn, { creates: true });
}

const howTo = (command: string, publicUrl: string, account: string) => `
To cause an event, run in another terminal:

  ${command} webhooks trigger ${firstEvent.name} --merchant-account ${shellWord(account)}

or ${firstEvent.change}:

  curl -X POST ${publicUrl}${firstEvent.path} \\
    -H "Authorization: Bearer $(${command} token --scopes ${firstEvent.scope})" \\
    -H 'X-Service-Merchant-Account-ID: ${account}' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(firstEvent.body)}'
`;

/** In the URL of each subscription, and what a GET of it says while its receiver runs. */
const sign = `${programName}-webhooks-listen`;

/** The subscriptions of receivers that were killed, and could not delete them. */
async function deleteAbandoned(db: Db, call: Call): Promise<void> {
  const ours = new RegExp(`^http://127\\.0\\.0\\.1:\\d+/${sign}$`);
  for (const { id, url } of await listAllSubscriptions(db))
    if (ours.test(url) && !(await isRunning(url))) await deleteSubscription(auditOnce(db, call, id), id);
}

const isRunning = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (response) => (await response.text()) === sign,
    () => false,
  );

async function startReceiver(server: Server, port: number): Promise<string> {
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      failed(
        error.code === 'EADDRINUSE' ? new OperatorFault(`Port ${port} is taken. Leave out --port.`) : error,
      );
    });
    server.listen(port, '127.0.0.1', done);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/${sign}`;
}

/** Prints the delivery, and returns what to answer: with `forwardTo` what the receiver there answers, so that the service repeats as it would. */
async function statusFor(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
  forwardTo: string | undefined,
): Promise<number> {
  try {
    show(await verifyWebhook({ headers, body, secret }));
  } catch (error) {
    console.log(`${styleText('red', '✗ signature')}  ${visible(reasonOf(error))}`);
    return 400;
  }
  return forwardTo === undefined ? 204 : forward(headers, body, forwardTo);
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

/** As long as the service waits for an answer. */
const answerMilliseconds = 15_000;

async function forward(headers: IncomingHttpHeaders, body: Buffer, to: string): Promise<number> {
  const passed = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (/^(webhook-|content-type$|user-agent$|traceparent$)/.test(name)) passed.set(name, String(value));
  const start = performance.now();
  const tell = (isGood: boolean, answer: string) => {
    const ms = Math.round(performance.now() - start);
    const mark = isGood ? styleText('green', '✓ receiver') : styleText('red', '✗ receiver');
    console.log(`${mark}   ${visible(answer)}  ${ms} ms`);
  };
  try {
    const signal = AbortSignal.timeout(answerMilliseconds);
    const response = await fetch(to, { method: 'POST', headers: passed, body, redirect: 'manual', signal });
    const text = (await response.text()).slice(0, shownCharacters);
    tell(response.ok, [response.status, text].filter(Boolean).join(': '));
    if (response.status === 410)
      console.log('410 switches its subscription off. To go on, start listen again.');
    return response.status;
  } catch (error) {
    // `fetch` itself says only that it failed.
    const { cause = error } = error as Error;
    tell(false, `no answer: ${reasonOf(cause)}`);
    return 502;
  }
}

const shownCharacters = 200;
