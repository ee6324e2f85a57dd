// Receivers of all kinds. The good ones keep what they got; the others misbehave in their own way.
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const misbehaviours: ((socket: Socket) => void)[] = [
  // It hangs.
  () => undefined,
  (socket) => void socket.resetAndDestroy(),
  (socket) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('X-Drip: 1\r\n'), 500);
    socket.once('close', () => {
      clearInterval(drip);
    });
  },
  (socket) => void socket.end('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n'),
  (socket) => void socket.end('\0\0\0hello\r\n\r\n'),
];

export async function startReceivers() {
  const servers: (Server | HttpServer)[] = [];
  const listen = async (server: Server | HttpServer) => {
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  /** Payment methods of which each good receiver was told, with the IDs of those events. */
  const heard = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const sockets = new Set<Socket>();
  const bad = misbehaviours.map((misbehave) =>
    createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
      socket.once('data', () => {
        misbehave(socket);
      });
    }),
  );
  return {
    urls: await Promise.all([...heard.map(goodReceiver), ...bad].map(listen)),
    heard,
    close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}

const goodReceiver = (told: Map<string, Set<string>>): HttpServer =>
  createHttpServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      const { target } = JSON.parse(body) as { target: { id: string } };
      const ids = told.get(target.id) ?? new Set();
      told.set(target.id, ids.add(String(req.headers['webhook-id'])));
      res.writeHead(204).end();
    });
  });
