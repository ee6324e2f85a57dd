// Starts what others would build for the same answer, on the same table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';
import { freePort, untilReady } from '../support/sandbox.ts';
import { contract } from './contract.ts';
import type { PeerConfig } from './peers/peer.ts';
import type { Service } from './service.ts';

export interface Running {
  url: string;
  pid: number;
  token: string;
  /** The PostgreSQL that it uses. */
  postmaster: number | undefined;
  stop: () => Promise<void>;
}

/** `ours` must run. `page` is its answer, which Prism has as an example. */
export async function startPeer(name: string, ours: Service, page: unknown): Promise<Running> {
  const { token, publicKey } = ours;
  if (name === 'prism') return { ...(await startPrism(page)), token, postmaster: undefined };
  const port = await freePort();
  const config: PeerConfig = { port, databaseUrl: ours.databaseUrl(), publicKey };
  const script = ['scripts/run.js', `scripts/bench/peers/${name}.ts`];
  const started = await startProgram(script, port, { BENCH_PEER: JSON.stringify(config) });
  return { ...started, token, postmaster: ours.postmaster() };
}

/** Starts a program of Node that listens on this port. */
export async function startProgram(args: string[], port: number, env: Record<string, string> = {}) {
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, SCARF_ANALYTICS: 'false', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady(url, child);
  const stop = async () => {
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
  };
  return { url, pid: child.pid ?? 0, stop, [Symbol.asyncDispose]: stop };
}

/** With a page, its contract has that as the example to answer with. */
export async function startPrism(page?: unknown) {
  const copy = structuredClone(contract);
  const { content } = copy.paths['/transactions'].get.responses['200'];
  if (page !== undefined) content['application/json'].examples = { page: { value: page } };
  const file = join(root, '.cache', 'bench-openapi.json');
  writeFileSync(file, JSON.stringify(copy));
  const port = await freePort();
  const args = ['mock', '--port', String(port), '--host', '127.0.0.1', file];
  return startProgram(['node_modules/.bin/prism', ...args], port);
}
