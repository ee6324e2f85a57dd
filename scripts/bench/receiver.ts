// What the webhook benches share: a receiver, and calls that cause events.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BenchedService } from './service.ts';

export async function post(
  { url, token }: BenchedService,
  path: string,
  body: object,
): Promise<{ id: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as { id: string };
}

export async function listen(handle: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        server.closeAllConnections();
      }),
  };
}
