// `npm run mock`: the mock for people. Says where it is, then a line per request.
import { Command, InvalidArgumentError } from 'commander';
import { ContractFault } from '../server/contract/load.ts';

const whole =
  (most: number) =>
  (text: string): number => {
    if (!/^\d{1,9}$/.test(text) || Number(text) > most)
      throw new InvalidArgumentError(`It must be a whole number, 0 to ${most}.`);
    return Number(text);
  };

const program = new Command('npm run mock --')
  .description(
    "Serve the contract's own answers: every declared status and example, errors with real violations, nothing stored.",
  )
  .option('--delay <ms>', 'hold every answer back for so long', whole(600_000), 0)
  .addHelpText(
    'after',
    `
Environment: PORT (4010), HOST (127.0.0.1)

Choose an answer with a header:
  Prefer: code=409               a declared status
  Prefer: example=expired_card   a named example
  Prefer: dynamic=true           values made up from the schema
or with the values that choose in the sandbox: card numbers, gift card numbers and PINs.`,
  )
  .parse();

async function main(port: number): Promise<void> {
  // Prism takes its time to load; who asks for help need not wait for it.
  const { startMock } = await import('./mock.ts');
  const { delay } = program.opts<{ delay: number }>();
  const mock = await startMock({
    host: process.env.HOST || '127.0.0.1',
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

try {
  await main(whole(65_535)(process.env.PORT || '4010'));
} catch (error) {
  const { code } = error as { code?: string };
  if (code === 'EADDRINUSE') console.error('The port is taken. Choose another: PORT=4011 npm run mock');
  else if (error instanceof InvalidArgumentError) console.error(`PORT: ${error.message}`);
  else console.error(error instanceof ContractFault ? error.message : error);
  process.exitCode = 1;
}
