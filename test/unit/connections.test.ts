// Connections to receivers are kept for a moment, and not trusted more than new ones.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import { connectionLimits } from '../../server/kit/events/connections.ts';
import { describeFailure, showAnswer } from '../../server/kit/events/failure.ts';
import { createSend, sendOptions } from '../../server/kit/events/send.ts';
import { cpuMilliseconds } from '../support/cpu.ts';

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

const outgoing = {
  account: 'default',
  body: '{}',
  headers: { 'webhook-id': 'one' },
  secrets: [],
  login: undefined,
};

const sending = (limits = connectionLimits) => {
  const { send, close } = createSend(sendOptions({ environment: 'sandbox' }), limits);
  closing.push(close);
  return (url: string, subscription = 'first') =>
    send({ ...outgoing, subscription, url }, new AbortController().signal);
};

const isOver = (socket: Socket | undefined) =>
  !socket || socket.destroyed ? Promise.resolve() : new Promise((done) => socket.once('close', done));

describe('an answer', () => {
  const shown = (said: string) => showAnswer(Buffer.from(said), ['correct horse']);

  it.each([
    ['x', 1024],
    ['ж', 512],
    ['中', 342],
    ['😀', 256],
  ])('of many %s is shown as far as they begin in the first 1,024 bytes', (character, number) => {
    for (const length of [number, 2 * number, 100 * number])
      expect(shown(character.repeat(length))).toBe(character.repeat(number));
  });

  it.each([1, 2, 3])('is not cut in a character that %i bytes are before', (before) => {
    const start = 'x'.repeat(before);
    expect(shown(`${start}${'😀'.repeat(1_000)}`)).toBe(`${start}${'😀'.repeat(256)}`);
  });

  it('that is not UTF-8 is shown with replacement characters', () => {
    expect(showAnswer(Buffer.from('Gr\xf6\xdfe \xe9', 'latin1'), [])).toBe('Gr\ufffd\ufffde \ufffd');
    expect(showAnswer(Buffer.alloc(5_000, 0x80), [])).toMatch(/^\ufffd{1024,1027}$/);
  });

  it.each([
    ['[number]', '4111 1111 1111 1111'],
    ['[secret]', `whsec_${'x'.repeat(900)}`],
    ['[redacted]', 'correct horse'],
  ])('shows %s, whole, for what begins in the first 1,024 bytes', (mask, secret) => {
    const rest = ' z'.repeat(3_000);
    expect(shown(`${'ж'.repeat(511)} ${secret}${rest}`)).toBe(`${'ж'.repeat(511)} ${mask}`);
    expect(shown(`${'ж'.repeat(511)}, ${secret}${rest}`)).toBe(`${'ж'.repeat(511)}, `);
    expect(shown(`${secret}${rest}`)).toBe(`${mask}${rest.slice(0, 1024 - secret.length)}`);
  });

  it.each(['0 ', '٤ ', '𝟺', '1\ufeff\ufeff\ufeff', '\ufeff', '://:', '-eyJ'])(
    'of many %j costs little CPU',
    (piece) => {
      const text = `1${piece.repeat(2_000 / Buffer.byteLength(piece))}x1`;
      expect(cpuMilliseconds(() => shown(text))).toBeLessThan(50);
    },
  );
});

describe('the time for an answer', () => {
  /** What the contract tells receivers, in the introduction and for each event. */
  const promised = async (): Promise<number> => {
    const text = await readFile(join(root, 'generated/openapi.json'), 'utf8');
    const times = [...text.matchAll(/any 2xx status within (\d+) seconds/gi)].map(([, seconds]) => seconds);
    expect(times.length).toBeGreaterThan(4);
    expect(new Set(times).size).toBe(1);
    return Number(times[0]);
  };

  it('is what the contract promises, and not a moment longer', async () => {
    const seconds = await promised();
    const waiting: ServerResponse[] = [];
    let arrive: () => void = () => undefined;
    const { url } = await answering((_, res) => {
      waiting.push(res);
      arrive();
    });
    // Time passes only when the test says so.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const send = sending();
      const begin = async () => {
        const arrived = new Promise<void>((resolve) => (arrive = resolve));
        const sent: { outcome?: unknown; over: Promise<void> } = { over: Promise.resolve() };
        sent.over = send(url).then(
          ({ status }) => void (sent.outcome = status),
          (error: unknown) => void (sent.outcome = describeFailure(error)),
        );
        await arrived;
        return sent;
      };
      const early = await begin();
      vi.advanceTimersByTime(seconds * 1000 - 1);
      await new Promise(setImmediate);
      expect(early.outcome).toBeUndefined();
      waiting[0]?.writeHead(204).end();
      await early.over;
      expect(early.outcome).toBe(204);
      const late = await begin();
      vi.advanceTimersByTime(seconds * 1000);
      await new Promise(setImmediate);
      expect(late.outcome).toBe(`no answer within ${seconds} s`);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a connection', () => {
  it('is used again', async () => {
    const { url, sockets } = await answering();
    const send = sending(patient);
    for (let posted = 0; posted < 3; posted += 1) expect((await send(url)).status).toBe(204);
    expect(sockets).toHaveLength(1);
  });

  it('is closed when nobody needs it for a while', async () => {
    const { url, sockets } = await answering();
    await sending({ ...patient, idleMilliseconds: 1 })(url);
    await isOver(sockets[0]);
  });

  it('is not used again when it is old, so that a receiver can move', async () => {
    const { url, sockets } = await answering();
    const send = sending({ ...patient, oldestMilliseconds: -1 });
    await send(url);
    await send(url);
    expect(sockets).toHaveLength(2);
  });

  it('is not kept when there are many already', async () => {
    const [one, other] = [await answering(), await answering()];
    const send = sending({ ...patient, idle: 1 });
    await send(one.url);
    await send(other.url);
    await isOver(other.sockets[0]);
    expect(one.sockets[0]?.destroyed).toBe(false);
  });

  it('on which something comes that nobody has asked for is closed', async () => {
    const answer = 'HTTP/1.1 204 No Content\r\n\r\n';
    const { url, sockets } = await listening(
      createTcpServer((socket) => socket.on('data', () => socket.write(answer))),
    );
    const send = sending(patient);
    expect((await send(url)).status).toBe(204);
    sockets[0]?.write('HTTP/1.1 500 Oops\r\n\r\n');
    await isOver(sockets[0]);
    expect((await send(url)).status).toBe(204);
    expect(sockets).toHaveLength(2);
  });
});

describe('a delivery', () => {
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
    const failure: unknown = await sending()(url).catch((error: unknown) => error);
    expect(describeFailure(failure)).toMatch(/: the receiver closed the connection$/);
    expect(sockets).toHaveLength(1);
  });

  it('whose answer was cut off on a kept connection is not sent again at once', async () => {
    let requests = 0;
    const { url } = await answering((req, res) => {
      requests += 1;
      if (requests === 1) res.writeHead(204).end();
      else req.socket.end('HTTP/1.1 2');
    });
    const send = sending();
    await send(url);
    await expect(send(url)).rejects.toThrow();
    expect(requests).toBe(2);
  });

  it('has arrived when the head of a 2xx has come; an unfinished body closes the connection', async () => {
    const { url, sockets } = await answering((_, res) => {
      res.writeHead(200, { 'Content-Length': 10 }).write('yes');
    });
    expect(await sending()(url)).toEqual({ status: 200, retryAfter: undefined, answer: null });
    await isOver(sockets[0]);
  });

  it('has arrived although the connection is cut after the head of a 2xx, and is not sent again', async () => {
    let requests = 0;
    const { url } = await answering((req, res) => {
      requests += 1;
      res.writeHead(200, { 'Content-Length': 10 }).write('yes', () => req.socket.resetAndDestroy());
    });
    expect((await sending()(url)).status).toBe(200);
    expect(requests).toBe(1);
  });

  it('that is refused has its status, although the body does not end by the deadline', async () => {
    let onWritten: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (onWritten = resolve));
    const { url } = await answering((_, res) => {
      const head = res.writeHead(503, { 'Content-Length': 10, 'Retry-After': '7' });
      head.write('busy', () => {
        onWritten();
      });
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const sent = sending()(url);
      await written;
      // On loopback it has arrived when it is written. It is read in the next turns of the event loop.
      for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
      vi.advanceTimersByTime(15_000);
      expect(await sent).toEqual({ status: 503, retryAfter: '7', answer: 'busy' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('that is refused at length leaves the connection to the next one', async () => {
    const { url, sockets } = await answering((_, res) => void res.writeHead(500).end('x'.repeat(5_000)));
    const send = sending();
    expect((await send(url)).answer).toBe('x'.repeat(1024));
    await send(url);
    expect(sockets).toHaveLength(1);
  });

  it('shows no secret and no password that a receiver quotes', async () => {
    const login = { username: 'shop', password: 'correct horse' };
    const secrets = ['whsec_bmV3', 'whsec_b2xk'];
    const { url } = await answering((req, res) => {
      const said = `${req.headers.authorization} is not shop:correct horse, nor whsec_bmV3, b2xk or whsec_eA==`;
      res.writeHead(401).end(said);
    });
    const { send, close } = createSend(sendOptions({ environment: 'sandbox' }));
    closing.push(close);
    const given = { ...outgoing, subscription: 'first', url, login, secrets };
    expect((await send(given, new AbortController().signal)).answer).toBe(
      'Basic [redacted] is not shop:[redacted], nor [secret], [redacted] or [secret]',
    );
  });

  it('goes to no proxy that the environment names', async () => {
    const proxy = await answering();
    const { url } = await answering();
    for (const name of ['http_proxy', 'HTTP_PROXY', 'ALL_PROXY']) vi.stubEnv(name, proxy.url);
    expect((await sending()(url)).status).toBe(204);
    vi.unstubAllEnvs();
    expect(proxy.sockets).toEqual([]);
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
