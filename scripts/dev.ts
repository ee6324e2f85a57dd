// `npm run dev`: on every save it lints the contract, generates from it, and updates the service, the mock and the docs.
// While there are problems, the last state without problems is served. Types are checked after that, because code can be served
// whose types are wrong.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { createTerminalLine } from '../server/kit/log/terminal.ts';
import { createProgram, type Program } from './dev/program.ts';
import { devFolder, noteRunning } from './dev/running.ts';
import { show, type State } from './dev/screen.ts';
import { createTypeCheck } from './dev/types.ts';
import { buildDocs } from './docs.ts';
import { areDocsBuilt } from './docs/digest.ts';
import { bundleContract } from './generate/bundle.ts';
import { generate } from './generate/generate.ts';
import { root } from './support/root.ts';
import { watchFolders } from './support/watch.ts';

/** What `generate` writes is not a change by the user. */
const generatedFiles = ['server/handlers/index.ts', 'server/migrations/index.ts'];
const isSourceOfGenerate = (file: string) => /^openapi\/|^server\/database\/migrations\//.test(file);

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

interface Dev {
  service: Program;
  mock: Program;
  /** Shows the state that has changed. */
  say: (change: Partial<State>) => void;
  where: Record<'API' | 'Docs' | 'Mock', string>;
}

/** Returns what updates everything after changes. An update that is overtaken by the next change does not go on. */
function createUpdates({ service, mock, say, where }: Dev) {
  let contractIsStale = true;
  /** Not shown yet. An update that is overtaken leaves it to the next. */
  let wrote: string[] = [];
  const typeCheck = createTypeCheck();
  let runs = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** Returns the problems, or '' if there are none. */
  async function checkContract(
    isOvertaken: () => boolean,
    onLinted: (unfinished: number) => void,
  ): Promise<string> {
    const bundled = await bundleContract(root);
    if ('fault' in bundled || isOvertaken()) {
      contractIsStale = true;
      return 'fault' in bundled ? bundled.fault : '';
    }
    onLinted(bundled.unfinished);
    const { ok, message, written, fault = message } = await generate(root, { bundled });
    if (!ok) contractIsStale = true;
    // The validators have a digest of the contract, so both programs change with it.
    for (const program of [service, mock]) program.touch(written);
    wrote = [...new Set([...wrote, ...written])];
    return ok ? '' : fault;
  }

  async function serve(isOvertaken: () => boolean): Promise<void> {
    await Promise.all([service.build(), mock.build()]);
    if (isOvertaken()) return;
    const serving = [runService(), runMock()];
    if (!areDocsBuilt()) await buildDocs(join(root, 'site'), join(root, 'pages'));
    await Promise.all(serving);
  }

  async function runService(): Promise<void> {
    const started = await service.run();
    where.API = 'url' in started ? started.url : started.fault;
    where.Docs = 'url' in started ? `${started.url}/docs/` : 'served with the API';
  }

  async function runMock(): Promise<void> {
    const started = await mock.run();
    // It knows the variable by another name.
    where.Mock = 'url' in started ? started.url : started.fault.replace(/\bPORT\b/g, 'MOCK_PORT');
  }

  async function update(isOvertaken: () => boolean, since: number): Promise<void> {
    const seconds = () => (performance.now() - since) / 1000;
    let linted: number | undefined;
    const onLinted = (unfinished: number) => {
      linted = seconds();
      say({ problems: '', linted, updated: undefined, types: undefined, wrote: [], unfinished });
    };
    const isStale = contractIsStale;
    // Now, because a save that comes meanwhile makes it stale again.
    contractIsStale = false;
    let problems = isStale ? await checkContract(isOvertaken, onLinted) : '';
    if (isOvertaken()) return;
    linted ??= seconds();
    // Even so: what is served may be old, or not run yet.
    if (problems !== '' && !(service.isCurrent() && mock.isCurrent())) say({ problems, linted });
    try {
      await serve(isOvertaken);
    } catch (error) {
      problems = messageOf(error);
    }
    if (isOvertaken()) return;
    say({ problems, linted, updated: seconds(), types: undefined, wrote });
    wrote = [];
    if (problems !== '') return;
    const types = await typeCheck.run();
    if (!isOvertaken()) say({ types });
  }

  return {
    after(files: string[], since: number) {
      if (files.some(isSourceOfGenerate)) contractIsStale = true;
      for (const program of [service, mock]) program.touch(files);
      runs += 1;
      typeCheck.end();
      const run = runs;
      const isOvertaken = () => run !== runs;
      last = last
        .then(() => (isOvertaken() ? undefined : update(isOvertaken, since)))
        .catch((error: unknown) => {
          if (!isOvertaken()) say({ problems: messageOf(error) });
        });
    },
    cancel() {
      runs += 1;
      typeCheck.end();
    },
  };
}

const terminalLine = createTerminalLine(process.stderr.isTTY && process.stderr.hasColors());

/** Warnings, errors and requests that were refused: this screen is about the contract and the code. */
function showTrouble(line: string): void {
  if (/^\{"level":[456]\d,|^\{"level":30,.*"status":4\d\d,/.test(line))
    process.stderr.write(terminalLine(line));
}

async function start(): Promise<void> {
  const begun = performance.now();
  await rm(devFolder, { recursive: true, force: true });
  await mkdir(devFolder, { recursive: true });
  const noteEnd = noteRunning();
  let isStopping = false;
  let state: State = { problems: '', served: [] };
  const where = { API: 'starting', Docs: 'starting', Mock: 'starting' };
  const say = (change: Partial<State>) => {
    state = { ...state, ...change, served: Object.entries(where) };
    if (!isStopping) show(state);
  };
  const ended = (name: keyof typeof where) => (why: string) => {
    where[name] = `ended, and starts again after the next save: ${why}`;
    say({});
  };
  const service = await createProgram(join(devFolder, 'service'), {
    entry: 'scripts/dev/service.ts',
    // Two services cannot have the same port for metrics.
    waits: !process.env.METRICS_PORT,
    listening: /"url":"([^"]+)".*"listening"/,
    onLine: showTrouble,
    onEnd: ended('API'),
  });
  const mock = await createProgram(join(devFolder, 'mock'), {
    entry: 'mock/main.ts',
    env: { ...process.env, PORT: process.env.MOCK_PORT },
    listening: /^Mock of the [^:]+: (\S+)/,
    onLine: () => undefined,
    onEnd: ended('Mock'),
  });
  const updates = createUpdates({ service, mock, say, where });
  watchFolders(['openapi', 'docs', 'server', 'client', 'mock', 'testing'], (files, since) => {
    const changed = files.filter((file) => !generatedFiles.includes(file));
    if (changed.length > 0) updates.after(changed, since);
  });
  updates.after([], begun);

  const stop = () => {
    // One Ctrl+C arrives several times, from the terminal and from npm.
    if (isStopping) return;
    isStopping = true;
    noteEnd();
    updates.cancel();
    void Promise.all([service.stop(), mock.stop()]).finally(() => process.exit());
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

await new Command('npm run dev --')
  .description(
    'On every save: lint the contract, generate from it, update the service (PORT, 8080), its docs and the mock (MOCK_PORT, 4010), ' +
      'and check the types. While there are problems in the contract, the last state without problems is served.',
  )
  .action(start)
  .parseAsync();
