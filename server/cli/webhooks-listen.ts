// `payments webhooks listen`: a receiver for newcomers. Subscribes itself, prints what comes, and unsubscribes at the end.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { styleText } from 'node:util';
import { listAccounts } from '../store/merchant-accounts.ts';
import { createWebhookSubscription, deleteWebhookSubscription } from '../store/webhook-subscriptions.ts';
import { Refused, withServices } from './support.ts';

export async function listen({
  port,
  merchantAccount,
}: {
  port: string;
  merchantAccount: string;
}): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new Refused('--port is a number from 0 to 65535.');
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  await withServices(async ({ db }, { vault, environment }) => {
    if (environment === 'production') throw new Refused('Production delivers to no address of this machine.');
    const known =
      merchantAccount === '*' || (await listAccounts(db)).some(({ id }) => id === merchantAccount);
    if (!known)
      throw new Refused(`There is no merchant account ${merchantAccount}. See: payments accounts list`);
    const server = createServer((req, res) => {
      let body = '';
      req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      req.on('end', () => {
        print(req.headers, body, secret);
        res.writeHead(204).end();
      });
    });
    await new Promise<void>((done, failed) =>
      server.once('error', failed).listen(Number(port), '127.0.0.1', done),
    );
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { id } = await createWebhookSubscription(db, {
      merchant_account_id: merchantAccount === '*' ? null : merchantAccount,
      active: true,
      url,
      username: null,
      password_sealed: null,
      secret_sealed: vault.seal(secret, 'webhook'),
    });
    console.log(
      `Listening on ${url} for events of ${merchantAccount === '*' ? 'all accounts' : merchantAccount}. Ctrl-C ends it.`,
    );
    console.log(
      'Make one happen: store a card with POST /payment-methods, or payments payment-methods move …',
    );
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const)
        process.once(signal, () => {
          resolve();
        });
    });
    await deleteWebhookSubscription(db, id);
    server.close();
  });
}

function print(headers: IncomingHttpHeaders, body: string, secret: string): void {
  const mark = isGenuine(headers, body, secret)
    ? styleText('green', '✓ signature')
    : styleText('red', '✗ signature');
  let event: { name?: string; target?: { id?: string; status?: string } } = {};
  try {
    event = JSON.parse(body) as typeof event;
  } catch {
    // Printed as it came.
  }
  const { id, status } = event.target ?? {};
  console.log(`${mark}  ${event.name ?? 'no event'}  ${id ?? ''}  ${status ?? ''}`);
  console.log(styleText('dim', JSON.stringify(event, null, 2).replace(/^/gm, '  ')));
}

function isGenuine(headers: IncomingHttpHeaders, body: string, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(timestamp)}.${body}`)
    .digest();
  return String(signatures)
    .split(' ')
    .map((signature) => Buffer.from(signature.replace(/^v1,/, ''), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
