// Connections to receivers are kept for a moment, and not trusted more than new ones.
import { once } from 'node:events';
import { createServer, request, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { connectionLimits, createConnections } from '../../server/webhooks/connections.ts';
import { createSend, sendOptions } from '../../server/webhooks/send.ts';

const hour = 3_600_000;
const patient = { ...connectionLimits, idleMilliseconds: hour, oldestMilliseconds: hour };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Its URL, and all connections that there were. */
async function listening(server: Server): Promise<{ url: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket.on('error', () => undefined));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets };
}

const answering = (handle: RequestListener = (_, res) => void res.writeHead(204).end()) =>
  listening(createServer({ keepAliveTimeout: hour }, handle));

/** Posts with kept connections, and resolves with the status when the connection is free again. */
const posting = (limits: typeof connectionLimits) => {
  const connections = createConnections(limits);
  closing.push(connections.close);
  return async (url: string): Promise<number> => {
    const sent = request(url, { method: 'POST', agent: connections.agentOf(new URL(url)) });
    sent.end('{}');
    let status = 0;
    sent.on('response', (answer) => {
      status = answer.statusCode ?? 0;
      answer.resume();
    });
    await once(sent, 'close');
    return status;
  };
};

const isOver = (socket: Socket | undefined) =>
  !socket || socket.destroyed ? Promise.resolve() : new Promise((done) => socket.once('close', done));

describe('a connection', () => {
  it('is used again', async () => {
    const { url, sockets } = await answering();
    const post = posting(patient);
    for (let posted = 0; posted < 3; posted += 1) expect(await post(url)).toBe(204);
    expect(sockets).toHaveLength(1);
  });

  it('is closed when nobody needs it for a while', async () => {
    const { url, sockets } = await answering();
    await posting({ ...patient, idleMilliseconds: 1 })(url);
    await isOver(sockets[0]);
  });

  it('is not used again when it is old, so that a receiver can move', async () => {
    const { url, sockets } = await answering();
    const post = posting({ ...patient, oldestMilliseconds: -1 });
    await post(url);
    await post(url);
    expect(sockets).toHaveLength(2);
  });

  it('is not kept when there are many already', async () => {
    const [one, other] = [await answering(), await answering()];
    const post = posting({ ...patient, idle: 1 });
    await post(one.url);
    await post(other.url);
    await isOver(other.sockets[0]);
    expect(one.sockets[0]?.destroyed).toBe(false);
  });

  it('on which something comes that nobody has asked for is closed', async () => {
    const answer = 'HTTP/1.1 204 No Content\r\n\r\n';
    const { url, sockets } = await listening(
      createTcpServer((socket) => socket.on('data', () => socket.write(answer))),
    );
    const post = posting(patient);
    expect(await post(url)).toBe(204);
    sockets[0]?.write('HTTP/1.1 500 Oops\r\n\r\n');
    await isOver(sockets[0]);
    expect(await post(url)).toBe(204);
    expect(sockets).toHaveLength(2);
  });
});

describe('a delivery', () => {
  const outgoing = { account: 'default', body: '{}', headers: { 'webhook-id': 'one' }, login: undefined };
  const sending = () => {
    const { send, close } = createSend(sendOptions({ environment: 'sandbox' }));
    closing.push(close);
    return (url: string, subscription = 'first') =>
      send({ ...outgoing, subscription, url }, new AbortController().signal);
  };

  it('that meets a connection which the receiver closes is sent again at once, on a new one', async () => {
    const used = new WeakSet<Socket>();
    const ids: unknown[] = [];
    const { url, sockets } = await answering((req, res) => {
      ids.push(req.headers['webhook-id']);
      if (used.has(req.socket)) req.socket.destroy();
      else res.writeHead(204).end();
      used.add(req.socket);
    });
    const send = sending();
    expect((await send(url)).status).toBe(204);
    expect((await send(url)).status).toBe(204);
    expect(ids).toEqual(['one', 'one', 'one']);
    expect(sockets).toHaveLength(2);
  });

  it('on a new connection that the receiver closes has failed', async () => {
    const { url, sockets } = await answering((req) => req.socket.destroy());
    await expect(sending()(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(sockets).toHaveLength(1);
  });

  it('whose answer was cut off on a kept connection is not sent again at once', async () => {
    let requests = 0;
    const { url } = await answering((req, res) => {
      requests += 1;
      if (requests === 1) res.writeHead(204).end();
      else res.writeHead(200, { 'Content-Length': 10 }).write('half', () => req.socket.destroy());
    });
    const send = sending();
    await send(url);
    await expect(send(url)).rejects.toThrow();
    expect(requests).toBe(2);
  });

  it('uses no connection of another subscription, whose second answer it might get', async () => {
    const { url, sockets } = await answering();
    const send = sending();
    await send(url, 'first');
    await send(url, 'second');
    expect(sockets).toHaveLength(2);
    await send(url, 'first');
    expect(sockets).toHaveLength(2);
  });

  it('leaves nothing on the connection that it was sent on', async () => {
    const { url, sockets } = await answering();
    const send = sending();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    for (let sent = 0; sent < 20; sent += 1) await send(url);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    expect(sockets).toHaveLength(1);
  });
});
