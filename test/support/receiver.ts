/** A real webhook receiver on loopback, which records deliveries and answers as the test wants. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Got {
  headers: IncomingHttpHeaders;
  body: string;
  path: string;
}

export interface Receiver extends AsyncDisposable {
  url: string;
  got: Got[];
  /** Resolves after this many deliveries. */
  received: (number: number) => Promise<void>;
}

type Answer = (res: ServerResponse, got: Got, nth: number) => void;

export async function startReceiver(
  answer: Answer = (res) => res.writeHead(204).end(),
  tls?: { key: string; cert: string },
): Promise<Receiver> {
  const got: Got[] = [];
  const waiting: { number: number; done: () => void }[] = [];
  const handle: RequestListener = (req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      const one = { headers: req.headers, body, path: req.url ?? '' };
      got.push(one);
      for (const { number, done } of waiting) if (got.length >= number) done();
      answer(res, one, got.length);
    });
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    got,
    received: (number) =>
      got.length >= number ? Promise.resolve() : new Promise((done) => waiting.push({ number, done })),
    [Symbol.asyncDispose]: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        server.closeAllConnections();
      }),
  };
}
