// Requests: all subjects in interleaved rounds (A B C A B C …), so that whatever disturbs the machine disturbs all of them.
import { isDeepStrictEqual } from 'node:util';
import { card, cases, load, page, type Call } from './load.ts';
import type { Row } from './report.ts';
import { post, type Service } from './service.ts';
import { startPeer, type Running } from './subjects.ts';
import { megabytesOf, usageOf, usageOfTree, usedBetween } from './usage.ts';

export type CaseName = keyof typeof cases;

const peers: Record<CaseName, string[]> = {
  page: ['bare', 'fastify', 'validator', 'prism'],
  dearest: [],
  cards: ['bare'],
};

interface Rounds {
  rounds: number;
  seconds: number;
}

/** The services are stopped, before and after. */
export async function benchRequests(
  name: CaseName,
  services: ReadonlyMap<string, Service>,
  lengths: Rounds,
): Promise<Row[]> {
  const [ours] = services.values();
  if (!ours) return [];
  const running = new Map<string, Running>();
  try {
    for (const [subject, service] of services) running.set(subject, await startService(service, name));
    const { body } = await answer(ours, page);
    for (const peer of peers[name]) {
      const started = await startPeer(peer, ours, body);
      running.set(peer, started);
      await prove(peer, started, body);
    }
    return await measure(name, cases[name], running, lengths);
  } finally {
    // The peers first: they use the database of the service.
    for (const one of [...running.values()].reverse()) await one.stop();
  }
}

async function startService(service: Service, name: CaseName): Promise<Running> {
  // The bare handler does not deliver what it stores, so the service leaves that to another process; `deliveries` measures it.
  const pid = await service.start(name === 'cards' ? { WEBHOOK_WORKER: 'off' } : {});
  if (name === 'cards') {
    // With a subscription a new card has a delivery. The bare handler copies these rows. Port 9 discards.
    await post(service, '/webhook-subscriptions', { url: 'http://127.0.0.1:9/' });
    await post(service, '/payment-methods', card);
  }
  return { ...service, pid, postmaster: service.postmaster() };
}

async function measure(
  name: string,
  call: Call,
  running: ReadonlyMap<string, Running>,
  { rounds, seconds }: Rounds,
): Promise<Row[]> {
  const found = [...running].map(([subject, one]) => {
    const lists = { value: [], node: [], database: [], p99: [], megabytes: [] };
    const row: Required<Row> = { measure: name, subject, unit: '/s', ...lists };
    return { ...one, row };
  });
  for (let round = 0; round < rounds; round += 1)
    for (const { row, url, token, pid, postmaster } of found) {
      // V8 forgets what it has compiled of a process that waits while the others are measured.
      await load(url, call, token, { seconds });
      const [node, database] = [usageOf(pid), usageOfTree(postmaster)];
      const { requests, perSecond, p99 } = await load(url, call, token, { seconds });
      row.value.push(perSecond);
      row.node.push((usedBetween(node, usageOf(pid)) / requests) * 1000);
      row.database.push((usedBetween(database, usageOfTree(postmaster)) / requests) * 1000);
      row.p99.push(p99);
      row.megabytes.push(megabytesOf(pid));
    }
  return found.map(({ row }) => row);
}

async function answer({ url, token }: { url: string; token?: string }, path: string) {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(url + path, { headers });
  return { status: response.status, body: (await response.json()) as { items?: unknown } };
}

/** A peer that sends something else, or leaves out the checks, is faster for no reason that matters here. */
async function prove(name: string, { url, token }: Running, expected: { items?: unknown }): Promise<void> {
  const { body } = await answer({ url, token }, page);
  if (!isDeepStrictEqual(body.items, expected.items)) throw new Error(`${name} sends other items.`);
  if (name === 'bare') return;
  const anonymous = await answer({ url }, page);
  if (anonymous.status !== 401) throw new Error(`${name} answers without a token.`);
  const invalid = await answer({ url, token }, '/transactions?limit=0');
  if (invalid.status < 400) throw new Error(`${name} accepts limit=0.`);
}
