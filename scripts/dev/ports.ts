// `npm run dev` looks at its ports before it builds anything, so that one answer names all that are taken.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { isDevRunning } from './running.ts';

const host = process.env.HOST || '127.0.0.1';

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    // The program that is to listen explains other faults, such as a HOST of another machine.
    return (error as NodeJS.ErrnoException).code !== 'EADDRINUSE';
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** The first free port from this one on; 0, which means any, stays. */
async function freePort(from: number, reserved: number): Promise<number> {
  let port = from;
  while (port > 0 && port < 65_535 && (port === reserved || !(await isFree(port)))) port += 1;
  return port;
}

/** Says which ports are taken, and the command that chooses others; undefined if both are free. */
export async function adviceOnPorts(mock: number, typed: string[]): Promise<string | undefined> {
  const { PORT = '8080' } = process.env;
  // The service refuses what is no port.
  const service = /^\d{1,5}$/.test(PORT) && Number(PORT) <= 65_535 ? Number(PORT) : 0;
  const freeForService = await freePort(service, mock);
  const freeForMock = await freePort(mock, freeForService);
  const taken = [...(freeForService === service ? [] : [service]), ...(freeForMock === mock ? [] : [mock])];
  if (taken.length === 0) return undefined;
  const fault = taken.length === 1 ? `Port ${taken[0]} is taken.` : `Ports ${taken.join(' and ')} are taken.`;
  if (isDevRunning())
    return `${fault} npm run dev runs in this folder already: use that one, or stop it first.`;
  const at = typed.findIndex((arg) => arg.startsWith('--mock-port'));
  const others = at === -1 ? typed : typed.toSpliced(at, typed[at] === '--mock-port' ? 2 : 1);
  const args = [...others, ...(at === -1 && freeForMock === mock ? [] : ['--mock-port', freeForMock])];
  const command = [
    ...(process.env.PORT === undefined && freeForService === service ? [] : [`PORT=${freeForService}`]),
    'npm run dev',
    ...(args.length === 0 ? [] : ['--', ...args]),
  ].join(' ');
  return `${fault} Choose ${taken.length === 1 ? 'another' : 'others'}: ${command}`;
}
