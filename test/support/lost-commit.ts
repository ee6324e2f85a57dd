/** A proxy before PostgreSQL that can lose the confirmation of a commit: the commit succeeds, and its client never hears of it. */
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
}

export async function startLossyDatabase(databaseUrl: string): Promise<LossyDatabase> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host');
  const port = Number(target.searchParams.get('port') ?? (target.port || 5432));
  let wanted: { statement: string; committed: (lost: { cut: () => void }) => void } | undefined;
  const sockets = new Set<Socket>();
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
    upstream.on('data', (bytes) => {
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
