// Answers the requests of a connection one after the other. Node starts every pipelined request at once, so a client that
// sends thousands and reads no answer would fill the memory.
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

type Exchange = Parameters<RequestListener>;

interface Connection {
  isBusy: boolean;
  waiting: Exchange[];
  /** Requests so far. */
  total: number;
}

export interface ConnectionLimits {
  mostRequests: number;
  /** Until an answer must have been taken, from the start of its request. */
  answerMilliseconds: number;
}

/** How many requests may wait behind the one that is being answered. A client that sends more is disconnected. */
const mostWaiting = 10;

export function oneAtATime(
  app: RequestListener,
  { mostRequests, answerMilliseconds }: ConnectionLimits,
): RequestListener {
  const connections = new WeakMap<Socket, Connection>();

  const open = (socket: Socket): Connection => {
    const connection: Connection = { isBusy: false, waiting: [], total: 0 };
    connections.set(socket, connection);
    // Node never closes the responses of requests that still wait then.
    socket.once('close', () => {
      connection.waiting.length = 0;
    });
    return connection;
  };

  const start = (connection: Connection, [req, res]: Exchange): void => {
    const { socket } = req;
    connection.isBusy = true;
    // Incoming bytes keep a connection from being idle, so a client that does not read needs a limit of its own.
    const deadline = setTimeout(() => socket.destroy(), answerMilliseconds);
    res.once('close', () => {
      clearTimeout(deadline);
      connection.isBusy = false;
      const next = connection.waiting.shift();
      // After an answer with `Connection: close` nothing more is executed: it could not be answered.
      if (next && !socket.destroyed && !socket.writableEnded) start(connection, next);
    });
    app(req, res);
  };

  return (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket) ?? open(socket);
    connection.total += 1;
    const surplus = connection.total - mostRequests;
    if (surplus > mostWaiting || connection.waiting.length >= mostWaiting) socket.destroy();
    // Requests that follow one whose response has `Connection: close` get none (RFC 9112, 9.6).
    if (surplus > 0 || socket.destroyed) return;
    if (surplus === 0) res.setHeader('Connection', 'close');
    if (connection.isBusy) connection.waiting.push([req, res]);
    else start(connection, [req, res]);
  };
}
