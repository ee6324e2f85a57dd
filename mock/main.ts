// `npm run mock`, and `npx URL/mock.tgz`: prints the mock's URL, then one line per request.
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import { packageName } from '../generated/operations.ts';
import { ContractFault } from '../server/kit/contract/load.ts';
import { longestDelay } from './http/delay.ts';
import type { Mock } from './mock.ts';

const wholeNumberUpTo =
  (max: number) =>
  (text: string): number => {
    if (!/^\d{1,9}$/.test(text) || Number(text) > max)
      throw new InvalidArgumentError(`It must be a whole number, 0 to ${max}.`);
    return Number(text);
  };

const program = new Command('mock')
  .description(
    'Serve every response and example of the contract. Requests are validated as by the service; nothing is stored.',
  )
  .addOption(
    new Option('--port <number>', 'port to listen on')
      .env('PORT')
      .default(4010)
      .argParser((text) => (text === '' ? 4010 : wholeNumberUpTo(65_535)(text))),
  )
  .addOption(new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'))
  .option(
    '--json',
    'for programs: print a line of JSON (url) when it is ready, answer a line "requests" with those so far, and end when standard input ends',
  )
  .option('--delay <ms>', 'delay every response', wholeNumberUpTo(longestDelay), 0)
  .addHelpText(
    'after',
    `
Choose a response with a header:
  Prefer: code=409               a declared status
  Prefer: example=expired_card   a named example
  Prefer: delay=500              later by so many milliseconds
  Prefer: code=504, retry-after=2   a refusal (429 or 504) that may be repeated after two seconds
or with the sandbox's test values: card numbers, gift card numbers and PINs.`,
  )
  .parse();

async function main(): Promise<void> {
  // Imported here because Prism is slow to load, and --help does not need it.
  const { startMock } = await import('./mock.ts');
  const { host, port, delay, json } = program.opts<{
    host: string;
    port: number;
    delay: number;
    json?: boolean;
  }>();
  const mock = await startMock({
    host: host || '127.0.0.1',
    port,
    delayMilliseconds: delay,
    log: (line) => {
      if (!json) console.log(line);
    },
  });
  const stop = () => void mock.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  if (json) {
    await obey(mock);
    return;
  }
  console.log(`\nMock of the ${packageName.replaceAll('-', ' ')}: ${mock.url}\n`);
  for (const call of mock.firstCalls) console.log(`  ${call}`);
  console.log();
}

/** For the program that started this: each line of standard input is a command, and has a line as its answer. */
async function obey(mock: Mock): Promise<void> {
  const print = (answer: object) => {
    console.log(JSON.stringify(answer));
  };
  // It may be gone before it has read everything.
  process.stdout.on('error', () => undefined);
  print({ url: mock.url });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'requests') print({ requests: mock.requests() });
    else print({ error: `There is no command ${JSON.stringify(line)}: only requests.` });
  }
  // Connections that are kept open must not keep the program.
  process.exit();
}

function explainTakenPort(): string {
  const { port } = program.opts<{ port: number }>();
  const other = port === 4011 ? 4012 : 4011;
  const source = program.getOptionValueSource('port');
  if (source === 'cli') return `Port ${port} (from --port) is taken. Choose another: --port ${other}`;
  const origin = source === 'env' ? 'from PORT' : 'the default';
  return `Port ${port} (${origin}) is taken. Choose another: PORT=${other}`;
}

try {
  await main();
} catch (error) {
  const { code } = error as { code?: string };
  if (code === 'EADDRINUSE') console.error(explainTakenPort());
  else console.error(error instanceof ContractFault ? error.message : error);
  process.exitCode = 1;
}
