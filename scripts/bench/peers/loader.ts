// Sends the load, in a process of its own: the bench itself must not compete with it.
import { Agent, request } from 'node:http';
import { runPeer } from './peer.ts';
import { percentile } from '../statistics.ts';

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

export interface Load {
  url: string;
  headers: Record<string, string>;
  /** Sent in turn, from the given one on. */
  calls: Call[];
  from: number;
  status: number;
  connections: number;
  seconds: number;
}

export interface Loaded {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Of the body of the last answer. */
  bytes: number;
}

runPeer(async ({ url, headers, calls, from, status, connections, seconds }: Load): Promise<Loaded> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);
  const times: number[] = [];
  let [next, bytes] = [from, 0];
  const send = ({ method, path, body }: Call) =>
    new Promise<number>((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
      const outgoing = request(
        { agent, hostname, port, method, path, headers: { ...headers, ...length } },
        (answer) => {
          let read = 0;
          answer.on('data', (chunk: Buffer) => (read += chunk.length));
          answer.once('end', () => {
            if (answer.statusCode === status) resolve(read);
            else
              reject(
                new Error(`${method} ${path} answered ${answer.statusCode ?? 'nothing'}, not ${status}`),
              );
          });
          answer.once('error', reject);
        },
      );
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  const start = performance.now();
  const end = start + seconds * 1000;
  const caller = async () => {
    while (performance.now() < end) {
      const call = calls[next % calls.length];
      if (!call) throw new Error('There is nothing to call.');
      next += 1;
      const sent = performance.now();
      bytes = await send(call);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  const took = (performance.now() - start) / 1000;
  agent.destroy();
  return {
    requests: times.length,
    seconds: took,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    bytes,
  };
});
