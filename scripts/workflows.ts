// A step of `npm run check`: runs docs/workflows/ with Redocly's respect against a sandbox of its own, with a receiver for events.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { workflowFiles } from './docs/guides.ts';
import { redocly } from './support/redocly.ts';
import { createSandbox } from './support/sandbox.ts';

const scopes = 'payment-methods.write,transactions.read,webhook-subscriptions.write';

/** Answers GET with the last event that it received. */
async function startReceiver(): Promise<{ url: string } & AsyncDisposable> {
  let last = '';
  const server = createServer((req, res) => {
    if (req.method === 'GET') {
      res.writeHead(last === '' ? 404 : 200, { 'content-type': 'application/json' }).end(last);
      return;
    }
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      last = body;
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => {
        done();
      });
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

async function main(): Promise<number> {
  const [file] = workflowFiles('.arazzo.yaml');
  if (file === undefined) return 0;
  await using service = await createSandbox();
  await using receiver = await startReceiver();
  await service.start();
  const token = service.payments('token', '--scopes', scopes).stdout.trim();
  const input = JSON.stringify({ token, key: randomUUID(), receiver: `${receiver.url}/events` });
  const servers = `payments=${service.url},receiver=${receiver.url}`;
  const { status, stdout, stderr } = await redocly(
    ['respect', file, '--input', input, '--server', servers],
    process.stdout.isTTY,
  );
  console.log(stdout + stderr);
  return status;
}

process.exitCode = await main();
