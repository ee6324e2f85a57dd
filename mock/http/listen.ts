// The HTTP server. What is not even HTTP never reaches Express; it is answered in the contract's shape too.
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorBody } from '../../server/errors.ts';

export interface Listening {
  port: number;
  close: () => Promise<void>;
}

export async function listen(
  app: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const server = createServer({ maxHeaderSize: 16 * 1024 }, app);
  server.on('clientError', (_error, socket: Socket) => {
    refuse(socket);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        server.closeAllConnections();
      }),
  };
}

function refuse(socket: Socket): void {
  if (!socket.writable || socket.destroyed) return;
  const body = JSON.stringify(errorBody(400));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${randomUUID()}`,
    'Access-Control-Allow-Origin: *',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
