// The HTTP server itself: limits on headers and time, errors below Express in the same JSON shape, and a shutdown that
// finishes what is under way.
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { errorBody } from '../errors.ts';

export const limits = {
  /** Request line and headers together, so the URL too. */
  headerBytes: 16 * 1024,
  headersMilliseconds: 10_000,
  requestMilliseconds: 30_000,
  keepAliveMilliseconds: 5_000,
  shutdownMilliseconds: 10_000,
};

export interface Listening {
  port: number;
  close: () => Promise<void>;
}

export async function listen(
  app: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMilliseconds,
      requestTimeout: limits.requestMilliseconds,
      keepAliveTimeout: limits.keepAliveMilliseconds,
      connectionsCheckingInterval: 2_000,
    },
    app,
  );
  server.on('clientError', refuse);
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, done);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

// What is not even HTTP never reaches Express, and Node would answer it without a body.
function refuse(_error: Error, socket: Socket): void {
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

function close(server: Server): Promise<void> {
  return new Promise((done, failed) => {
    const deadline = setTimeout(() => {
      server.closeAllConnections();
    }, limits.shutdownMilliseconds);
    server.close((error) => {
      clearTimeout(deadline);
      if (error) failed(error);
      else done();
    });
    server.closeIdleConnections();
  });
}
