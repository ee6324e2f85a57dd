// The latency of a good client, alone and beside 500 hostile connections: idle ones, half-sent requests, and pipelines whose
// answers nobody reads.
import { connect, type Socket } from 'node:net';
import type { BenchedService } from './service.ts';

const connections = 500;

const texts = [
  '',
  'GET /transactions HTTP/1.1\r\nHost:',
  'POST /payment-methods HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"number"',
  'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10),
];

export async function benchHostileClients({ url, token }: BenchedService, seconds: number) {
  const alone = await latencies(url, token, seconds);
  const sockets = new Set<Socket>();
  // A client that was disconnected comes back at once.
  const attack = (text: string, isOver: () => boolean) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    socket.pause();
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      setTimeout(() => {
        if (!isOver()) attack(text, isOver);
      }, 100);
    });
  };
  let over = false;
  for (let index = 0; index < connections; index += 1) attack(texts[index % texts.length] ?? '', () => over);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const beside = await latencies(url, token, seconds);
  over = true;
  for (const socket of sockets) socket.destroy();
  return [
    { client: 'alone', ...alone },
    { client: `beside ${connections} hostile connections`, ...beside },
    { client: 'ratio', median: ratio(beside.median, alone.median), p99: ratio(beside.p99, alone.p99) },
  ];
}

const ratio = (a: number, b: number) => Number((a / b).toFixed(2));

async function latencies(url: string, token: string, seconds: number) {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  while (performance.now() < end) {
    const start = performance.now();
    const response = await fetch(`${url}/transactions?limit=20`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`The good client was answered with ${response.status}`);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(1));
  return { median: at(0.5), p99: at(0.99) };
}
