// What every program that the bench starts has in common: it is told what to do over the channel to its parent, because
// arguments and the environment are visible to other processes, and it ends with its parent.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Checks = 'none' | 'cached' | 'verified';

export interface PeerConfig {
  databaseUrl: string;
  /** By which the bench finds the PostgreSQL backends of this peer. */
  applicationName: string;
  contractFile: string;
  /** PEM. Verifies the tokens of the sandbox. */
  publicKey: string;
  /** Folder with the packages that are installed for the bench only. */
  packages: string;
  checks: Checks;
  /** What the service answered, by method and path. Peers that have no such data send the same bytes. */
  answers: Record<string, unknown>;
}

/** The parent sends what the program asks for; see `startPeer`. */
export function runPeer(answer: (config: never) => Promise<unknown>): void {
  process.on('message', (config) => {
    answer(config as never).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ fault: error instanceof Error ? error.stack : String(error) }),
    );
  });
  process.once('disconnect', () => {
    process.exit();
  });
}

/** Listens on a free port and returns the URL. */
export async function listenOn(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
