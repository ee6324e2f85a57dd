// Connections to receivers, kept for a moment after an answer, because connecting takes longer than most deliveries. Only the
// lookup of a new connection checks the address (guard.ts). A kept one still goes to the address that was checked, and is
// used again for the same subscription, host and port only: if a receiver answers twice, the second answer may be taken for that to
// the next request, which must not be another account's. undici's own pools do not say which connection a request uses, so each
// connection is a client of undici here: the deadline closes exactly this one, also while it is connecting.
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { AttemptFailure } from './failure.ts';

export const connectionLimits = {
  /** Shorter than most receivers wait before they close a connection, so few deliveries meet one that is just being closed. */
  idleMilliseconds: 2_000,
  /** A receiver that moves to another address gets its deliveries there after this time. */
  oldestMilliseconds: 60_000,
  /** Kept per subscription. As many attempts are under way to one subscription. */
  idlePerSubscription: 16,
  idle: 200,
};

const longestHeaders = 16 * 1024;
/** Everything that is read for a request, also what undici drops: informational responses, chunk extensions, empty lines. */
const longestAnswer = 64 * 1024;

export interface ReceiverConnection {
  for: string;
  client: Client;
  /** Set for each request: undici connects again if the receiver closes the connection before the request is sent. */
  lookup: LookupFunction;
  socket: Socket | undefined;
  since: number;
  /** What was read before the request that is under way. */
  readBefore: number;
  closing: AbortController;
}

export function createConnections(limits = connectionLimits) {
  const idle: ReceiverConnection[] = [];

  const close = (connection: ReceiverConnection): void => {
    const index = idle.indexOf(connection);
    if (index >= 0) idle.splice(index, 1);
    // The client alone does not close a connection that is not established yet.
    connection.closing.abort();
    void connection.client.destroy();
  };

  const open = (subscription: string, { origin }: URL, lookup: LookupFunction): ReceiverConnection => {
    const closing = new AbortController();
    const connect = buildConnector({
      // The deadline of the attempt covers it.
      timeout: 0,
      signal: closing.signal,
      lookup: (...given) => {
        connection.lookup(...given);
      },
      // Until the next address of the same name is tried. Node's 250 ms are too short for another continent.
      autoSelectFamilyAttemptTimeout: 1_500,
      // Without a cache of sessions, the certificate is checked at each new connection.
      maxCachedSessions: 0,
    });
    const client = new Client(origin, {
      connect: (options, callback) => {
        connect(options, (...[error, socket]) => {
          if (error) {
            callback(error, null);
            return;
          }
          Object.assign(connection, { socket, since: performance.now(), readBefore: 0 });
          socket.on('readable', () => {
            if (socket.bytesRead - connection.readBefore > longestAnswer)
              socket.destroy(new AttemptFailure('the answer is too long'));
          });
          callback(null, socket);
        });
      },
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: longestHeaders,
      keepAliveTimeout: limits.idleMilliseconds,
      keepAliveMaxTimeout: limits.idleMilliseconds,
    });
    const connection: ReceiverConnection = {
      for: `${subscription} ${origin}`,
      client,
      lookup,
      socket: undefined,
      since: 0,
      readBefore: 0,
      closing,
    };
    client.on('disconnect', () => {
      if (idle.includes(connection)) close(connection);
    });
    return connection;
  };

  return {
    /** A kept connection, or a new one, which connects with the first request. */
    take(subscription: string, url: URL, lookup: LookupFunction): ReceiverConnection {
      const index = idle.findLastIndex((one) => one.for === `${subscription} ${url.origin}`);
      const [kept] = index < 0 ? [] : idle.splice(index, 1);
      if (!kept) return open(subscription, url, lookup);
      return Object.assign(kept, { lookup, readBefore: kept.socket?.bytesRead ?? 0 });
    },
    /** After a whole answer. */
    keep(connection: ReceiverConnection): void {
      const { since, socket, for: receiver } = connection;
      const isOld = performance.now() - since > limits.oldestMilliseconds;
      const ofReceiver = idle.filter((one) => one.for === receiver);
      const isFull = idle.length >= limits.idle || ofReceiver.length >= limits.idlePerSubscription;
      // A receiver that answers early may never read the rest of the request.
      const isSent = socket?.writableLength === 0;
      if (isOld || isFull || !isSent) close(connection);
      else idle.push(connection);
    },
    close,
    closeIdle: () => {
      for (const connection of [...idle]) close(connection);
    },
  };
}
