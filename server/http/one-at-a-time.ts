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

/** How many requests may wait behind the one that is being answered. A client that sends more is disconnected. */
const mostWaiting = 10;

export function oneAtATime(app: RequestListener, mostRequests: number): RequestListener {
  const connections = new WeakMap<Socket, Connection>();

  const start = (connection: Connection, [req, res]: Exchange): void => {
    connection.isBusy = true;
    res.once('close', () => {
      connection.isBusy = false;
      const next = connection.waiting.shift();
      if (next && !req.socket.destroyed) start(connection, next);
    });
    app(req, res);
  };

  return (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket) ?? { isBusy: false, waiting: [], total: 0 };
    connections.set(socket, connection);
    connection.total += 1;
    // Requests that follow one that was answered with `Connection: close` are not answered (RFC 9112, 9.6).
    if (connection.total > mostRequests) return;
    if (connection.total === mostRequests) res.setHeader('Connection', 'close');
    if (!connection.isBusy) start(connection, [req, res]);
    else if (connection.waiting.length < mostWaiting) connection.waiting.push([req, res]);
    else socket.destroy();
  };
}
