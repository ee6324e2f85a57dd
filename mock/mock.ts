// Starts the mock: loads the contract, listens, and reloads the contract when it changes. Used by main.ts and, on port 0, by
// tests.
import { watch } from 'node:fs';
import { isIP } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { bundleFile, ContractFault, projectRoot } from '../server/kit/contract/load.ts';
import { ApiError } from '../server/kit/errors.ts';
import { isLoopback } from '../server/kit/http/dashboard/dashboard.ts';
import { createRequestFeed } from '../server/kit/http/dashboard/feed.ts';
import { listen } from '../server/kit/http/listen.ts';
import { createAnswers } from './answers.ts';
import { createApp } from './app.ts';
import { createDelay } from './http/delay.ts';
import { maskSecrets, type RecordedRequest } from './http/request-log.ts';
import { whyRefused } from './http/write-error.ts';
import { loadMockContract } from './loaded-contract.ts';
import { firstCalls } from './operations.ts';
import type { Dynamic } from './prefer.ts';

export interface MockOptions {
  host?: string;
  port?: number;
  delayMilliseconds?: number;
  /** Made-up values, for callers that do not ask for an answer. */
  dynamic?: Dynamic | undefined;
  /** The bundled contract. */
  contractFile?: string;
  /** The docs that `npm run docs` builds. */
  siteDir?: string;
  /** The pages for developers that `npm run docs` builds too. */
  pagesDir?: string;
  log?: (line: string) => void;
  now?: () => Date;
}

export interface Mock {
  url: string;
  /** Commands to try: an answer, and a refusal that is asked for. */
  firstCalls: readonly string[];
  /** The last calls of operations, oldest first. */
  requests: () => readonly RecordedRequest[];
  /** Sets the answer of an operation; see testing/mock.ts. Throws an Error with the choices. */
  answer: (operation: string, answer: unknown) => void;
  reset: () => void;
  close: () => Promise<void>;
}

/** Writing a file causes several events; reload once after the last. */
const debounceMilliseconds = 150;

const mostRecorded = 1_000;

export async function startMock({
  host = '127.0.0.1',
  port = 4010,
  delayMilliseconds = 0,
  dynamic,
  contractFile = bundleFile,
  siteDir = join(projectRoot, 'site'),
  pagesDir = join(projectRoot, 'pages'),
  log = () => undefined,
  now = () => new Date(),
}: MockOptions = {}): Promise<Mock> {
  let contract = await loadMockContract(contractFile);
  let url = '';
  const requests = createRequestFeed(now);
  const { delay, endDelays } = createDelay();
  const recorded: RecordedRequest[] = [];
  const answers = createAnswers(() => contract, dynamic);
  const app = createApp({
    contract: () => contract,
    address: () => url,
    delay,
    delayMilliseconds,
    dynamic,
    answers,
    siteDir,
    pagesDir: isLoopback(host) ? pagesDir : undefined,
    requests,
    record: (request) => {
      recorded.push(request);
      if (recorded.length > mostRecorded) recorded.shift();
    },
    log,
    now,
  });
  const listening = await listen(
    app,
    { host, port },
    {
      note: (request) => {
        log(`→ ${request.status} (${request.reason ?? ''})`);
        requests.note(request);
      },
      allowOf: (path) => contract.find.allowOf(path),
    },
  );
  url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${listening.port}`;

  const reload = async () => {
    try {
      contract = await loadMockContract(contractFile);
      const { info } = contract.document;
      log(`Contract reloaded: version ${info.version}, ${contract.operations.length} operations`);
    } catch (error) {
      const why = error instanceof ContractFault ? error.message : String(error);
      log(`The new contract is faulty; the mock keeps serving the previous one.\n${why}`);
    }
  };
  let pending: NodeJS.Timeout | undefined;
  let reloading = Promise.resolve();
  // Watch the folder: a watch on the file itself is lost when the file is replaced.
  const watcher = watch(dirname(contractFile), (_event, name) => {
    if (name !== basename(contractFile)) return;
    clearTimeout(pending);
    pending = setTimeout(() => {
      reloading = reloading.then(reload);
    }, debounceMilliseconds);
  });
  return {
    url,
    firstCalls: firstCalls(contract.operations, url),
    requests: () => recorded.map(maskSecrets),
    answer(operation, answer) {
      try {
        answers.set(operation, answer);
      } catch (error) {
        throw error instanceof ApiError ? new Error(whyRefused(error)) : error;
      }
    },
    reset: answers.reset,
    async close() {
      watcher.close();
      clearTimeout(pending);
      endDelays();
      await listening.close();
      await reloading;
    },
  };
}
