// `npm run dev` looks at its ports before it builds anything, so that one answer names all that are taken.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { isDevRunning } from './running.ts';

const host = process.env.HOST || '127.0.0.1';

async function isTaken(port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    // The program that is to listen explains other faults, such as a HOST of another machine.
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  }
  server.close();
  await once(server, 'close');
  return false;
}

/** Says which ports are taken, and how to choose others; undefined if both are free. */
export async function adviceOnPorts(mock: number): Promise<string | undefined> {
  const { PORT = '8080' } = process.env;
  // The service refuses what is no port.
  const service = /^\d{1,5}$/.test(PORT) && Number(PORT) <= 65_535 ? Number(PORT) : 0;
  const taken: number[] = [];
  for (const port of [service, mock]) if (await isTaken(port)) taken.push(port);
  if (taken.length === 0) return undefined;
  const fault = taken.length === 1 ? `Port ${taken[0]} is taken.` : `Ports ${taken.join(' and ')} are taken.`;
  return isDevRunning()
    ? `${fault} npm run dev runs in this folder already: use that one, or stop it first.`
    : `${fault} Choose others, such as: PORT=8081 npm run dev -- --mock-port 4011`;
}
