// The mock as a whole: reads the contract, listens, and reads it again when it changes. main.ts runs it for people, tests run
// it on port 0.
import { watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isIP } from 'node:net';
import { ContractFault, loadContract } from '../server/contract/load.ts';
import { listen } from '../server/http/listen.ts';
import { createApp } from './app.ts';
import { readContract } from './reading.ts';

export interface MockOptions {
  host?: string;
  port?: number;
  delayMilliseconds?: number;
  /** The bundled contract. */
  contractFile?: string;
  log?: (line: string) => void;
  now?: () => Date;
}

export interface Mock {
  url: string;
  close: () => Promise<void>;
}

const bundle = join(import.meta.dirname, '..', 'generated', 'openapi.json');
/** A file is written in several steps; one reading after the last of them is enough. */
const settleMilliseconds = 150;

export async function startMock({
  host = '127.0.0.1',
  port = 4010,
  delayMilliseconds = 0,
  contractFile = bundle,
  log = () => undefined,
  now = () => new Date(),
}: MockOptions = {}): Promise<Mock> {
  let reading = await readContract(loadContract(contractFile));
  let url = '';
  const app = createApp({ reading: () => reading, address: () => url, delayMilliseconds, log, now });
  const listening = await listen(app, { host, port }, ({ reason }) => {
    log(`→ 400 (not HTTP: ${reason ?? 'unknown'})`);
  });
  url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${listening.port}`;

  const readAgain = async () => {
    try {
      reading = await readContract(loadContract(contractFile));
      const { info } = reading.document;
      log(`The contract was read again: version ${info.version}, ${reading.operations.length} operations`);
    } catch (error) {
      const why = error instanceof ContractFault ? error.message : String(error);
      log(`The contract cannot be used; the mock keeps the one that it has.\n${why}`);
    }
  };
  let pending: NodeJS.Timeout | undefined;
  let reloading = Promise.resolve();
  // The folder: a file that is replaced takes the watch on it along.
  const watcher = watch(dirname(contractFile), (_event, name) => {
    if (name !== basename(contractFile)) return;
    clearTimeout(pending);
    pending = setTimeout(() => {
      reloading = reloading.then(readAgain);
    }, settleMilliseconds);
  });
  return {
    url,
    async close() {
      watcher.close();
      clearTimeout(pending);
      await listening.close();
      await reloading;
    },
  };
}
