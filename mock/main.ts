// `npm run mock`, and `npx URL/mock.tgz`: prints the mock's URL, then one line per request.
import { Command, InvalidArgumentError, Option } from 'commander';
import { ContractFault } from '../server/contract/load.ts';

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
  .option('--delay <ms>', 'delay every response', wholeNumberUpTo(600_000), 0)
  .addHelpText(
    'after',
    `
Choose a response with a header:
  Prefer: code=409               a declared status
  Prefer: example=expired_card   a named example
  Prefer: dynamic=true           values generated from the schema
  Prefer: code=429, retry-after=2   a refusal that may be repeated after two seconds
or with the sandbox's test values: card numbers, gift card numbers and PINs.`,
  )
  .parse();

async function main(): Promise<void> {
  // Imported here because Prism is slow to load, and --help does not need it.
  const { startMock } = await import('./mock.ts');
  const { host, port, delay } = program.opts<{ host: string; port: number; delay: number }>();
  const mock = await startMock({
    host: host || '127.0.0.1',
    port,
    delayMilliseconds: delay,
    log: (line) => {
      console.log(line);
    },
  });
  console.log(`
Mock of the payments service: ${mock.url}

  curl -H 'Authorization: Bearer anything' ${mock.url}/transactions
  curl -H 'Authorization: Bearer anything' -H 'Prefer: code=422' ${mock.url}/transactions
`);
  const stop = () => void mock.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
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
