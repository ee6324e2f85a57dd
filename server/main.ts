// `npm start`: runs the service for people. Prints where it is and a call that works as pasted; ends by itself on a signal.
import { ConfigFault, readConfig } from './config.ts';
import { ContractFault } from './contract/load.ts';
import { createLog } from './log.ts';
import { startService } from './service.ts';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.logLevel);
  const service = await startService({ config, log });
  if (config.environment === 'sandbox') {
    console.log(`
Payments service, sandbox: ${service.url}
Docs: ${service.url}/docs   Contract: ${service.url}/openapi.json

Try it in another terminal, in this folder:

  curl -H "Authorization: Bearer $(npm run -s payments -- token --scopes '*.read')" \\
    ${service.url}/card-scheme-definitions
`);
  }
  log.info({ url: service.url }, 'listening');
  const stop = (signal: string) => {
    log.info({ signal }, 'stopping: finishing what is under way');
    service.close().then(
      () => {
        log.info('stopped');
      },
      (error: unknown) => {
        log.error({ err: error }, 'stopped with an error');
        process.exitCode = 1;
      },
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

try {
  await main();
} catch (error) {
  const expected = error instanceof ContractFault || error instanceof ConfigFault;
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE')
    console.error(`Port ${String(port)} is taken. Choose another: PORT=8081 npm start`);
  else console.error(expected ? error.message : error);
  process.exitCode = 1;
}
