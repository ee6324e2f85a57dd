// `npm start`: starts the service, prints its URL and a first call to try, and shuts down on SIGINT or SIGTERM.
import { inspect } from 'node:util';
import { readConfig } from './config.ts';
import { setupFault } from './database/faults.ts';
import { OperatorFault } from './faults.ts';
import { commandsHere, forOperator, readBuild } from './installation.ts';
import { createLog, flushLog } from './log.ts';
import { settingsHelp } from './settings.ts';
import { hasDesk, startService, type Service } from './start.ts';
import { endOnUncaught, uncaughtText } from './uncaught.ts';
import { visibleLines } from './visible.ts';

const stopMilliseconds = 19_000;
const idleMilliseconds = 500;
const failedStart = 'the service did not start';

async function main(): Promise<void> {
  const config = readConfig();
  // Lines for people on a terminal, JSON for everything else.
  const terminal = process.stdout.isTTY
    ? (await import('./terminal-log.ts')).toTerminal(process.stdout)
    : undefined;
  const log = createLog(config.logLevel, terminal);
  const starting = startService(config, log);
  const { isStopping } = stopAtSignal(starting, log, 1000 * config.shutdownDelay);
  const service = await starting;
  if (isStopping()) return;
  if (config.environment === 'sandbox') {
    console.log(`
Payments service, sandbox: ${service.url}
Open ${service.url}/${hasDesk(config) ? ' in a browser: requests, console, docs' : 'docs/ in a browser'}

Try it in another terminal, in this folder:

${service.firstCall.replaceAll(/^/gm, '  ')}
`);
  }
  const { metricsPort, port, url } = service;
  log.info({ ...readBuild(), ...(metricsPort !== undefined && { metricsPort }), port, url }, 'listening');
  log.flush();
}

/** A signal may arrive while the service starts: the start then ends first, because half of one would leave PostgreSQL running. */
function stopAtSignal(
  starting: Promise<Service>,
  log: ReturnType<typeof createLog>,
  delayMilliseconds: number,
) {
  let stoppingSince: number | undefined;
  let isStarted = false;
  const close = async () => {
    // `main` reports a start that fails.
    const service = await starting.catch(() => undefined);
    try {
      await service?.close();
      log.info('stopped');
    } catch (error) {
      log.error({ err: error }, 'stopped with an error');
      process.exitCode = 1;
    }
    exitAfter(idleMilliseconds);
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
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  starting.then(
    () => (isStarted = true),
    () => undefined,
  );
  return { isStopping: () => stoppingSince !== undefined };
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
function messageForOperator(error: unknown): string | undefined {
  if (error instanceof OperatorFault) return error.message;
  const fault = setupFault(error);
  if (fault !== undefined) return fault;
  const { code, syscall, port, address, hostname } = error as Record<string, string | undefined>;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken. Choose another: PORT=${Number(port) + 1} ${commandsHere().start}`;
  if (code === 'EACCES') return `Port ${port} is not open to this user. Choose one above 1023.`;
  return `HOST ${hostname ?? address} is not an address of this machine (${code}).`;
}

/** A line of the log unless that is a terminal: whoever collects it must find the reason there, whatever LOG_LEVEL is. */
function reportFailedStart(error: unknown): void {
  const message = messageForOperator(error);
  const { stdout, stderr } = process;
  if (stdout.isTTY || stderr.isTTY)
    console.error(visibleLines(message === undefined ? inspect(error) : forOperator(message)));
  if (stdout.isTTY) return;
  flushLog();
  const log = createLog('fatal', { write: (line) => void stdout.write(line) });
  if (message === undefined) log.fatal({ reason: 'an unexpected error', err: error }, failedStart);
  else log.fatal({ reason: forOperator(message) }, failedStart);
}

endOnUncaught((uncaught) => {
  const message = 'the service ends: nobody handled an error';
  const { stdout, stderr } = process;
  if (stdout.isTTY || stderr.isTTY) console.error(visibleLines(uncaughtText(message, uncaught)));
  if (!stdout.isTTY) createLog('fatal').fatal(uncaught, message);
  flushLog();
});
const args = process.argv.slice(2);
const example = `PORT=9999 ${commandsHere().start}`;
if (args.includes('--help'))
  console.log(`Settings are variables, for example: ${example}\n${settingsHelp()}`);
else if (args.length > 0) {
  // Not repeated, because they may have secrets.
  console.error(
    `The service takes no arguments. Settings are variables, for example: ${example}\nAll of them: --help`,
  );
  process.exitCode = 2;
} else
  try {
    await main();
  } catch (error) {
    reportFailedStart(error);
    process.exitCode = 1;
  }
