// What a receiver may do to a delivery, on purpose or because it is broken. Each is a real server on loopback, or a name.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { certificate } from '../../support/keys.ts';

export interface Behaviour {
  name: string;
  /** What is recorded of the attempt. */
  status?: number;
  error: RegExp | null;
  scheme?: 'http' | 'https';
  /** What it does with each connection. */
  act?: (socket: Socket) => void;
  /** Instead of a server on 127.0.0.1: a name that the name server of the test knows, or an address. */
  host?: string;
  tls?: object;
}

const tooLate = /^no answer within 6 s$/;
const cutOff = /: the receiver closed the connection$/;
const notHttp = /: the answer is not valid HTTP$/;
/** The head of a 2xx has come, whatever comes of the rest. */
const arrived = { status: 200, error: null };
const switched = /^switching protocols is not supported$/;

/** Acts once the request has come. */
const onRequest = (act: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => {
    act(socket);
  });
};

const say = (text: string) => onRequest((socket) => socket.write(text));
const sayAndEnd = (text: string) => onRequest((socket) => socket.end(text));
const sayAndReset = (text: string) =>
  onRequest((socket) => {
    socket.write(text, () => socket.resetAndDestroy());
  });

/** Says the first text, then the second again and again, a little at a time. */
const drip = (first: string, again: string) =>
  onRequest((socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(again), 50);
    socket.once('close', () => {
      clearInterval(timer);
    });
  });

/** Says the second text for ever, as fast as it is read. */
const flood = (first: string, again: string) =>
  onRequest((socket) => {
    const piece = again.repeat(Math.ceil(16_384 / again.length));
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    socket.write(first);
    more();
  });

const head = (...headers: string[]) => ['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n');
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const tooLong = /^the answer is too long$/;

export const behaviours: Behaviour[] = [
  // Protocols
  { name: '101 with Upgrade', act: say(upgrade), status: 101, error: switched },
  {
    name: '101 with Upgrade, then frames for ever',
    act: flood(upgrade, '\x81\x05hello'),
    status: 101,
    error: switched,
  },
  {
    name: '101 without Upgrade',
    act: say('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    status: 101,
    error: switched,
  },
  {
    name: 'a flood of 100',
    act: flood('', 'HTTP/1.1 100 Continue\r\n\r\n'),
    error: /^the receiver sent 100 Continue unasked$/,
  },
  {
    name: 'a flood of 103 with headers',
    act: flood('', `HTTP/1.1 103 Early Hints\r\nLink: <${'x'.repeat(900)}>\r\n\r\n`),
    error: tooLong,
  },
  {
    name: '102 again and again',
    act: drip('', 'HTTP/1.1 102 Processing\r\n\r\n'),
    error: tooLate,
  },
  { name: 'an SSH greeting', act: sayAndEnd('SSH-2.0-OpenSSH_9.6\r\n'), error: notHttp },
  { name: 'HTTP/2', act: say('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04'), error: notHttp },
  { name: 'bytes that are no text', act: say('\xff\xfe\0\x01'.repeat(5000)), error: notHttp },
  // Silence and slowness
  { name: 'silence before the request is read', act: (socket) => socket.pause(), error: tooLate },
  { name: 'silence after the request', act: onRequest(() => undefined), error: tooLate },
  { name: 'half a status line, then silence', act: say('HTTP/1.1 20'), error: tooLate },
  { name: 'half of the body, then silence', act: say(`${head('Content-Length: 9')}half`), ...arrived },
  {
    name: 'an error with a body drop by drop',
    act: drip('HTTP/1.1 500 No\r\n\r\n', 'x'),
    status: 500,
    error: null,
  },
  {
    name: 'headers that never end, drop by drop',
    act: drip('HTTP/1.1 200 OK\r\n', 'X: y\r\n'),
    error: tooLate,
  },
  { name: 'a body drop by drop', act: drip(head('Content-Length: 99999'), 'x'), ...arrived },
  {
    name: 'chunks drop by drop, never the last',
    act: drip(head('Transfer-Encoding: chunked'), '1\r\nx\r\n'),
    ...arrived,
  },
  { name: 'a body up to an end that never comes', act: say(`${head()}x`), ...arrived },
  // Too much
  { name: 'a header of a megabyte', act: say(head(`X: ${'y'.repeat(1_000_000)}`)), error: notHttp },
  { name: 'headers without end', act: flood('HTTP/1.1 200 OK\r\n', 'X-Y: z\r\n'), error: notHttp },
  { name: 'a status line without end', act: flood('HTTP/1.1 200 ', 'OK '), error: tooLong },
  {
    name: 'an error with a body without end',
    act: flood('HTTP/1.1 500 No\r\n\r\n', 'x'),
    status: 500,
    error: null,
  },
  {
    name: 'a chunk extension without end',
    act: flood(`${head('Transfer-Encoding: chunked')}1;`, 'x=y;'),
    ...arrived,
  },
  {
    name: 'trailers without end',
    act: flood(`${head('Transfer-Encoding: chunked')}0\r\n`, 'X-Y: z\r\n'),
    ...arrived,
  },
  {
    name: 'empty lines before the status line without end',
    act: flood('', '\r\n'),
    error: tooLong,
  },
  // Contradictions
  { name: 'two lengths', act: say(`${head('Content-Length: 1', 'Content-Length: 2')}xx`), error: notHttp },
  { name: 'a length without end', act: say(head(`Content-Length: ${'9'.repeat(40)}`)), error: notHttp },
  {
    name: 'a redirect to itself',
    act: sayAndEnd('HTTP/1.1 307 Again\r\nLocation: /\r\nContent-Length: 0\r\n\r\n'),
    status: 307,
    error: /^redirects are not followed$/,
  },
  // Connections that end, at each phase
  { name: 'a reset at once', act: (socket) => socket.resetAndDestroy(), error: cutOff },
  { name: 'an end after the request', act: onRequest((socket) => socket.end()), error: cutOff },
  { name: 'a reset in the status line', act: sayAndReset('HTTP/1.1 2'), error: cutOff },
  { name: 'an end in the body', act: sayAndEnd(`${head('Content-Length: 9')}half`), ...arrived },
  { name: 'nobody', host: '127.0.0.1:9', error: /^ECONNREFUSED/ },
  // TLS
  { name: 'TLS: silence', scheme: 'https', act: (socket) => socket.pause(), error: tooLate },
  {
    name: 'TLS: plain HTTP',
    scheme: 'https',
    act: sayAndEnd('HTTP/1.1 200 OK\r\n\r\n'),
    error: /^(EPROTO|ERR_SSL)/,
  },
  { name: 'TLS: a reset in the handshake', scheme: 'https', act: sayAndReset('\x16\x03\x03'), error: cutOff },
  {
    name: 'TLS: a record drop by drop',
    scheme: 'https',
    act: drip('\x16\x03\x03\x40\0', '\x02'),
    error: /./,
  },
  { name: 'TLS: a certificate of its own', scheme: 'https', tls: {}, error: /^DEPTH_ZERO_SELF_SIGNED_CERT/ },
  {
    name: 'TLS: 1.1 only',
    scheme: 'https',
    tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    error: /^(EPROTO|ERR_SSL)/,
  },
];

/** Names, as the name server of the test answers them. */
export const nameBehaviours: Behaviour[] = [
  { name: 'a name that hangs', host: 'silent.test', error: /could not be resolved within|within 6 s/ },
  {
    name: 'a name that does not exist',
    host: 'missing.test',
    error: /^ENOTFOUND: the host name could not be resolved$/,
  },
  {
    name: 'a name whose server fails',
    host: 'failing.test',
    error: /ESERVFAIL: the host name could not be resolved/,
  },
  {
    name: 'a name without addresses',
    host: 'empty.test',
    error: /ENODATA: the host name could not be resolved/,
  },
  { name: 'a name whose answer is garbage', host: 'garbage.test', error: /could not be resolved/ },
  {
    name: 'a name of the metadata service',
    host: 'metadata.test',
    error: /^the host name resolves to internal/,
  },
  { name: 'a name of a private network', host: 'private.test', error: /^the host name resolves to internal/ },
  { name: 'a name with a private address beside nobody', host: 'mixed.test:9', error: /^ECONNREFUSED/ },
];

export interface Hostile extends AsyncDisposable {
  url: string;
  /** Connections that are open. */
  connections: () => number;
}

export async function startHostile({ scheme = 'http', host, act, tls }: Behaviour): Promise<Hostile> {
  if (host !== undefined)
    return {
      url: `${scheme}://${host}/`,
      connections: () => 0,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  const sockets = new Set<Socket>();
  const server: Server = tls
    ? createTlsServer({ ...tls, ...certificate })
    : createServer({ allowHalfOpen: true }, act);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    // A half-open connection is closed only when this end closes it too.
    socket.on('end', () => {
      socket.destroySoon();
    });
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    connections: () => {
      // One that reads nothing does not learn that it was closed.
      for (const socket of sockets) socket.resume();
      return sockets.size;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}
