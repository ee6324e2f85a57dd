// `npm run mock`, and `npx URL/mock.tgz`: prints the mock's URL, then one line per request.
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseJson } from '../client/json.ts';
import { packageName } from '../generated/operations.ts';
import { ContractFault } from '../server/kit/contract/load.ts';
import { longestDelay } from './http/delay.ts';
import type { Mock } from './mock.ts';
import { largestSeed } from './prefer.ts';

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
    'for programs: print a line of JSON (url) when it is ready, answer a line "requests" with those so far, take "answer JSON" and "reset", and end when standard input ends',
  )
  .option('--delay <ms>', 'delay every response', wholeNumberUpTo(longestDelay), 0)
  .option('--dynamic', 'answer with made-up values instead of examples')
  .addOption(
    new Option('--seed <number>', '--dynamic, with always the same values')
      .argParser(wholeNumberUpTo(largestSeed))
      .implies({ dynamic: true }),
  )
  .addHelpText(
    'after',
    `
Choose a response with a header:
  Prefer: code=409               a declared status
  Prefer: example=expired_card   a named example
  Prefer: dynamic=true, seed=7   made-up values; without the seed other ones each time
  Prefer: delay=500              later by so many milliseconds
  Prefer: code=504, retry-after=2   a refusal (429 or 504) that may be repeated after two seconds
or in a browser with ?__code=409, ?__example=…, ?__dynamic=true; or with the sandbox's test values. For a page that sends no such
header: PUT /__mock/answers/OPERATION with {"code": 409}, until DELETE /__mock/answers.`,
  )
  .parse();

async function main(): Promise<void> {
  // Imported here because Prism is slow to load, and --help does not need it.
  const { startMock } = await import('./mock.ts');
  const { host, port, delay, json, dynamic, seed } = program.opts<{
    host: string;
    port: number;
    delay: number;
    json?: boolean;
    dynamic?: boolean;
    seed?: number;
  }>();
  const mock = await startMock({
    host: host || '127.0.0.1',
    port,
    delayMilliseconds: delay,
    dynamic: dynamic ? { seed } : undefined,
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
    print(obeyLine(mock, line));
  }
  // Connections that are kept open must not keep the program.
  process.exit();
}

function obeyLine(mock: Mock, line: string): object {
  const [command = '', rest = ''] = line.split(/ (.*)/s);
  try {
    if (command === 'requests') return { requests: mock.requests() };
    if (command === 'answer') {
      const { operation, ...answer } = parseJson(rest) as { operation: string };
      mock.answer(operation, answer);
    } else if (command === 'reset') mock.reset();
    else return { error: `There is no command ${JSON.stringify(line)}: only requests, answer and reset.` };
    return {};
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
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
