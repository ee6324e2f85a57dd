// How long a connection of a client may last without a request.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { serveConnections } from '../../server/kit/http/connections.ts';
import { limits } from '../../server/kit/http/listen.ts';

// Time passes by hand. Node's own limits have other timers.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const { nextRequestMilliseconds } = limits;

/** A connection to a server that answers as `answer` does. */
async function open(answer: RequestListener = (_req, res) => void res.end('ok')) {
  const server = createServer().listen(0, '127.0.0.1');
  serveConnections(server, answer, { ...limits, mostRequests: 100 });
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = await accepted;
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return {
    server,
    socket,
    /** Until the server has read it. */
    send: async (text: string) => {
      const bytes = socket.bytesRead + text.length;
      client.write(text);
      while (socket.bytesRead < bytes) await setImmediate();
    },
    answered: async () => String(((await once(client, 'data')) as [Buffer])[0]),
  };
}

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

it('a connection without a request ends, whatever else arrives', async () => {
  const { socket, send } = await open();
  await send('\r\n\r\n');
  vi.advanceTimersByTime(nextRequestMilliseconds - 1);
  expect(socket.destroyed).toBe(false);
  await send('\r\n');
  vi.advanceTimersByTime(1);
  expect(socket.destroyed).toBe(true);
});

it('each answer gives the client the same time for its next request', async () => {
  const { socket, send, answered } = await open();
  for (let nth = 0; nth < 3; nth += 1) {
    vi.advanceTimersByTime(nextRequestMilliseconds - 1);
    const answer = answered();
    await send(request);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    await send('\r\n');
  }
  vi.advanceTimersByTime(nextRequestMilliseconds - 1);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(socket.destroyed).toBe(true);
});

it('a request that is under way, and those that wait behind it, have all the time of an answer', async () => {
  const bodies: string[] = [];
  const { server, socket, send, answered } = await open((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      bodies.push(body);
      res.end('ok');
    });
  });
  const begun = once(server, 'request');
  await send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na');
  await begun;
  vi.advanceTimersByTime(limits.answerMilliseconds - 1);
  const answer = answered();
  await send(`b${request}`);
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  while (bodies.length < 2) await setImmediate();
  expect(bodies).toEqual(['ab', '']);
  expect(socket.destroyed).toBe(false);
});
