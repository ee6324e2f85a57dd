// The connections of the server. The requests of each are answered one after the other: Node starts every pipelined request at
// once, so a client that sends thousands and reads no answer would fill the memory. At a shutdown they end in good order.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';

type Exchange = Parameters<RequestListener>;

interface Connection {
  running: ServerResponse | undefined;
  waiting: Exchange[];
  newest: ServerResponse | undefined;
  total: number;
  deadline: NodeJS.Timeout | undefined;
}

/** As listen.ts explains them. */
interface ConnectionLimits {
  mostRequests: number;
  nextRequestMilliseconds: number;
  answerMilliseconds: number;
  lastRequestMilliseconds: number;
  shutdownMilliseconds: number;
}

/** How many requests may wait behind the one that is being answered. A client that sends more is disconnected. */
const mostWaiting = 10;

/** In how many pieces a body may arrive: one of a byte costs as much as one of 64 kB. */
export const mostPieces = 2_000;

/** Call this before the first connection arrives. */
export function serveConnections(
  server: Server,
  app: RequestListener,
  { mostRequests, ...limits }: ConnectionLimits,
) {
  const connections = new Map<Socket, Connection>();
  let isStopping = false;

  // Whatever arrives, such as empty lines, keeps Node from ending an idle connection, or one whose client does not read.
  const limit = (connection: Connection, socket: Socket, milliseconds: number): void => {
    clearTimeout(connection.deadline);
    if (!socket.destroyed) connection.deadline = setTimeout(() => socket.destroy(), milliseconds);
  };

  const open = (socket: Socket): Connection => {
    const connection: Connection = {
      running: undefined,
      waiting: [],
      newest: undefined,
      total: 0,
      deadline: undefined,
    };
    connections.set(socket, connection);
    limit(connection, socket, limits.nextRequestMilliseconds);
    socket.once('close', () => {
      clearTimeout(connection.deadline);
      // Node never closes the responses of requests that still wait then.
      connection.waiting.length = 0;
      connections.delete(socket);
    });
    return connection;
  };

  const start = (connection: Connection, [req, res]: Exchange): void => {
    const { socket } = req;
    connection.running = res;
    limit(connection, socket, limits.answerMilliseconds);
    res.once('close', () => {
      connection.running = undefined;
      const next = connection.waiting.shift();
      // After an answer with `Connection: close` nothing more is executed: it could not be answered.
      if (next && !socket.destroyed && !socket.writableEnded) start(connection, next);
      else limit(connection, socket, limits.nextRequestMilliseconds);
    });
    app(req, res);
  };

  server.on('connection', open);
  server.on('request', (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket) ?? open(socket);
    if (req.headers['transfer-encoding'] !== undefined) boundPieces(req, res);
    connection.newest = res;
    connection.total += 1;
    const surplus = connection.total - mostRequests;
    if (surplus > mostWaiting || connection.waiting.length >= mostWaiting) socket.destroy();
    // Requests that follow one whose response has `Connection: close` get none (RFC 9112, 9.6).
    if (surplus > 0 || socket.destroyed) return;
    if (surplus === 0 || isStopping) res.setHeader('Connection', 'close');
    if (connection.running) connection.waiting.push([req, res]);
    else start(connection, [req, res]);
  });

  /** From now on every answer is the last one of its connection. */
  const endKeepAlive = () => {
    isStopping = true;
    for (const { running, waiting } of connections.values())
      for (const res of [running, ...waiting.map(([, later]) => later)])
        if (res && !res.headersSent) res.setHeader('Connection', 'close');
  };

  return {
    /** The response to the last request of this connection, sent or not. */
    newest: (socket: Socket): ServerResponse | undefined => connections.get(socket)?.newest,
    endKeepAlive,
    close: () =>
      new Promise<void>((done, failed) => {
        endKeepAlive();
        const idle = setInterval(() => {
          // Node does not count connections without any request as idle, and would wait for them.
          for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
          server.closeIdleConnections();
        }, limits.lastRequestMilliseconds);
        const deadline = setTimeout(() => {
          server.closeAllConnections();
        }, limits.shutdownMilliseconds);
        // Not the `close` of HTTP servers, which ends idle connections at once: their next request may be on its way.
        TcpServer.prototype.close.call(server, (error) => {
          clearInterval(idle);
          clearTimeout(deadline);
          if (error) failed(error);
          else done();
        });
      }),
  };
}

/** A body in chunks, of which one packet may have ten thousand. Those beyond the limit are not kept, and nothing more is read. */
function boundPieces(req: IncomingMessage, res: ServerResponse): void {
  let pieces = 0;
  const keep = req.push.bind(req);
  req.push = (chunk: unknown) => {
    pieces += 1;
    // One more than allowed, so that the reader of the body notices.
    if (pieces <= mostPieces + 1) return keep(chunk);
    if (res.writableFinished) req.socket.destroy();
    return false;
  };
  // Before the listener of Node, which would read the rest of a body that nobody has read past this limit.
  res.prependOnceListener('finish', () => {
    if (pieces > mostPieces && !req.complete) req.socket.destroy();
    // Tells Node that somebody reads the body.
    req.read();
    req.resume();
  });
}
