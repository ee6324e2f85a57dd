/**
 * A proxy before PostgreSQL. It counts round trips, and can lose the confirmation of a commit: the commit succeeds, and its client never
 * hears of it.
 */
import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

export interface LossyDatabase extends AsyncDisposable {
  /** The URL of the same database, through the proxy. */
  url: string;
  /**
   * From now on the confirmation of the next transaction that has this statement in it is withheld. Resolves when
   * PostgreSQL has committed it; the connection is then silent, until `cut` ends it.
   */
  loseCommitOf: (statement: string) => Promise<{ cut: () => void }>;
  /** Round trips until now, of all connections. */
  trips: () => number;
}

/** The first byte of ReadyForQuery, which ends a round trip. */
const readyForQuery = 'Z'.charCodeAt(0);

export async function startLossyDatabase(databaseUrl: string): Promise<LossyDatabase> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host');
  const port = Number(target.searchParams.get('port') ?? (target.port || 5432));
  let wanted: { statement: string; committed: (lost: { cut: () => void }) => void } | undefined;
  const sockets = new Set<Socket>();
  let trips = 0;
  const server = createServer((client) => {
    const upstream = folder
      ? createConnection(`${folder}/.s.PGSQL.${port}`)
      : createConnection(port, target.hostname);
    let stage: 'passing' | 'seen' | 'committing' | 'silent' = 'passing';
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (wanted && bytes.includes(wanted.statement)) stage = 'seen';
      else if (stage === 'seen' && bytes.includes('commit')) stage = 'committing';
      upstream.write(bytes);
    });
    let unread = Buffer.alloc(0);
    const count = (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes]);
      // A message is its type, its length without the type, and so much more.
      while (unread.length > 4 && unread.length > unread.readInt32BE(1)) {
        if (unread[0] === readyForQuery) trips += 1;
        unread = unread.subarray(1 + unread.readInt32BE(1));
      }
    };
    upstream.on('data', (bytes) => {
      count(bytes);
      if (stage === 'committing' && bytes.includes('COMMIT')) {
        stage = 'silent';
        const { committed } = wanted ?? {};
        wanted = undefined;
        committed?.({ cut: () => client.destroy() });
      }
      if (stage !== 'silent') client.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.searchParams.delete('port');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    trips: () => trips,
    loseCommitOf: (statement) =>
      new Promise((committed) => {
        wanted = { statement, committed };
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
