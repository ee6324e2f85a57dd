// Runs the service until its end, for `npm start` and `payments start`: prints its URL and a first call to try, and shuts down on
// SIGINT or SIGTERM.
import { inspect } from 'node:util';
import type { Logger } from 'pino';
import { readConfig, type Config } from './config.ts';
import { setupFault } from './kit/database/faults.ts';
import { OperatorFault } from './kit/faults.ts';
import { commandsHere, readBuild, serviceName } from './kit/installation.ts';
import { createLog, flushLog } from './kit/log/log.ts';
import { endOnUncaught, uncaughtText } from './kit/log/uncaught.ts';
import { visibleLines } from './kit/log/visible.ts';
import { hasDashboard, startService, type Service, type ServiceParts } from './start.ts';

export type Running = Pick<Service, 'url' | 'port' | 'firstCall' | 'metricsPort' | 'close'>;

/** What `payments start` does in another way. */
export interface Way<Started extends Running> {
  read: () => Config;
  start: (config: Config, log: Logger) => Promise<Started>;
  /** For a program that started this: it has standard input and output, so the log goes to standard error. */
  serveProgram?: ((starting: Promise<Started>, stop: (why: string) => void) => Promise<void>) | undefined;
  /** How to choose another port. */
  portOption: (port: number) => string;
}

const stopMilliseconds = 19_000;
const idleMilliseconds = 500;
const failedStart = 'the service did not start';

/** Ends when the service has stopped. */
export async function run(parts: Partial<ServiceParts> = {}): Promise<void> {
  await runAs({
    read: readConfig,
    start: (config, log) => startService(config, log, parts),
    portOption: (port) => `PORT=${port} ${commandsHere().start}`,
  });
}

export async function runAs<Started extends Running>(way: Way<Started>): Promise<void> {
  const isForProgram = way.serveProgram !== undefined;
  endOnUncaught((uncaught) => {
    const message = 'the service ends: nobody handled an error';
    const { stdout, stderr } = process;
    if (isForProgram || stdout.isTTY || stderr.isTTY)
      console.error(visibleLines(uncaughtText(message, uncaught)));
    if (!isForProgram && !stdout.isTTY) createLog('fatal').fatal(uncaught, message);
    flushLog();
  });
  try {
    await serve(way);
  } catch (error) {
    const message = messageForOperator(error, way.portOption);
    if (isForProgram) console.error(visibleLines(message === undefined ? inspect(error) : message));
    else reportFailedStart(error, message);
    process.exitCode = error instanceof OperatorFault ? error.exitCode : 1;
    // When that is written: what a provider's module left, such as a timer, would keep the process alive.
    process.stdout.write('', () => {
      exitAfter(idleMilliseconds);
    });
  }
}

async function serve<Started extends Running>({ read, start, serveProgram }: Way<Started>): Promise<void> {
  const config = read();
  // Lines for people on a terminal, JSON for everything else.
  const terminal =
    process.stdout.isTTY && !serveProgram
      ? (await import('./kit/log/terminal.ts')).toTerminal(process.stdout)
      : undefined;
  const log = createLog(config.logLevel, serveProgram ? process.stderr : terminal);
  const starting = start(config, log);
  const { isStopping, isSignalled, stop, stopped } = stopAtSignal(starting, log, 1000 * config.shutdownDelay);
  void serveProgram?.(starting, stop);
  const service = await starting.catch((error: unknown) => {
    // A Ctrl-C may also end what the start has just called, before that has a process group of its own. The end of standard input
    // ends nothing, so why the start failed is told.
    if (!isSignalled()) throw error;
    log.warn({ err: error }, 'the start failed while it was stopped');
  });
  if (service && !isStopping()) {
    const isGreeted = config.environment === 'sandbox' && !serveProgram;
    if (isGreeted) greet(config, service);
    const { metricsPort, port, url } = service;
    const facts = { ...readBuild(), ...(metricsPort !== undefined && { metricsPort }), port, url };
    // On a terminal, the greeting says all but the port of metrics, and stays the last that is shown until somebody calls.
    const isSaid = terminal !== undefined && isGreeted && metricsPort === undefined;
    log[isSaid ? 'debug' : 'info'](facts, 'listening');
    log.flush();
  }
  await stopped;
}

function greet(config: Config, { url, firstCall }: Running): void {
  console.log(`
${serviceName.replace(/^./, (first) => first.toUpperCase())}, sandbox: ${url}
Open ${url}/${hasDashboard(config) ? ' in a browser: requests, console, docs' : 'docs/ in a browser'}

Try it in another terminal, in this folder:

${firstCall.replaceAll(/^/gm, '  ')}
`);
}

/** A signal may arrive while the service starts: the start then ends first, because half of one would leave PostgreSQL running. */
function stopAtSignal(
  starting: Promise<Running>,
  log: ReturnType<typeof createLog>,
  delayMilliseconds: number,
) {
  let stoppingSince: number | undefined;
  let isSignalled = false;
  let isStarted = false;
  let end: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (end = resolve));
  const close = async () => {
    // `serve` reports a start that fails.
    const service = await starting.catch(() => undefined);
    try {
      await service?.close();
      log.info('stopped');
    } catch (error) {
      log.error({ err: error }, 'stopped with an error');
      process.exitCode = 1;
    }
    exitAfter(idleMilliseconds);
    end();
  };
  const stop = (signal: string) => {
    // One Ctrl-C arrives several times (from the terminal and npm). A second Ctrl-C after 5 s is deliberate: exit at once.
    if (stoppingSince !== undefined) {
      if (Date.now() - stoppingSince > 5_000) process.exit(1);
      return;
    }
    stoppingSince = Date.now();
    log.info({ signal }, `stopping: finishing ${isStarted ? 'running requests' : 'the start'}`);
    log.flush();
    exitAfter(stopMilliseconds + delayMilliseconds, () => {
      log.error('stopping took too long');
      process.exitCode = 1;
    });
    void close();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      isSignalled = true;
      stop(signal);
    });
  starting.then(
    () => (isStarted = true),
    () => undefined,
  );
  const isStopping = () => stoppingSince !== undefined;
  const stopOnce = (why: string) => {
    if (!isStopping()) stop(why);
  };
  return { isStopping, isSignalled: () => isSignalled, stop: stopOnce, stopped };
}

/** The timer alone does not keep the process alive: it fires only if something else does, such as a handle of a library. */
function exitAfter(milliseconds: number, before: () => void = () => undefined): void {
  const exit = () => {
    before();
    process.exit();
  };
  setTimeout(exit, milliseconds).unref();
}

/** One sentence for faults that the operator can fix; undefined for bugs, which are printed with their stack. */
function messageForOperator(error: unknown, portOption: (port: number) => string): string | undefined {
  if (error instanceof OperatorFault) return error.message;
  const fault = setupFault(error);
  if (fault !== undefined) return fault;
  const { code, syscall, port, address, hostname } = error as Record<string, string | undefined>;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  if (code === 'EADDRINUSE') return `Port ${port} is taken. Choose another: ${portOption(Number(port) + 1)}`;
  if (code === 'EACCES') return `Port ${port} is not open to this user. Choose one above 1023.`;
  return `HOST ${hostname ?? address} is not an address of this machine (${code}).`;
}

/** A line of the log unless that is a terminal: whoever collects it must find the reason there, whatever LOG_LEVEL is. */
function reportFailedStart(error: unknown, message: string | undefined): void {
  const { stdout, stderr } = process;
  if (stdout.isTTY || stderr.isTTY)
    console.error(visibleLines(message === undefined ? inspect(error) : message));
  if (stdout.isTTY) return;
  flushLog();
  const log = createLog('fatal', { write: (line) => void stdout.write(line) });
  if (message === undefined) log.fatal({ reason: 'an unexpected error', err: error }, failedStart);
  else log.fatal({ reason: message }, failedStart);
}
