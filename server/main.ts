// Composition root: config → contract → app → listen; signals.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';
import { ConfigFault, readConfig } from './config.ts';
import { ContractFault, loadContract } from './contract/load.ts';
import { proveContract } from './contract/prove.ts';

function start(): void {
  const { host, port } = readConfig();
  const contract = loadContract();
  proveContract(contract);
  const server = createServer(createApp({ document: contract.document }));
  server.listen(port, host, () => {
    const { port: bound } = server.address() as AddressInfo;
    console.log(`Payments service on http://${host}:${bound}`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close());
}

try {
  start();
} catch (error) {
  if (!(error instanceof ContractFault || error instanceof ConfigFault)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
