// Requests: all subjects in interleaved rounds (A B C A B C …), so that whatever disturbs the machine disturbs all of them.
import { isDeepStrictEqual } from 'node:util';
import { ask } from '../support/sandbox.ts';
import { cases, load, makeCard, page, type Call } from './load.ts';
import type { Row } from './report.ts';
import type { Service } from './service.ts';
import { startPeer, type Running } from './subjects.ts';
import { megabytesOf, usageOf, usageOfTree, usedBetween } from './usage.ts';

const peers = {
  page: ['bare', 'fastify', 'validator', 'prism'],
  cards: ['bare', 'fastify', 'express'],
};

interface Rounds {
  rounds: number;
  seconds: number;
}

/** The service is stopped, before and after. */
export async function benchRequests(
  name: keyof typeof cases,
  ours: Service,
  lengths: Rounds,
): Promise<Row[]> {
  const call: Call = cases[name];
  const running = new Map<string, Running>();
  try {
    running.set('ours', await startService(ours, call.method === 'POST'));
    const { body } = await ask(ours, page);
    for (const peer of peers[name]) {
      const started = await startPeer(peer, ours, body);
      running.set(peer, started);
      if (peer !== 'bare') await prove(started, ours, call);
    }
    return await measure(name, call, running, lengths);
  } finally {
    // The peers first: they use the database of the service.
    for (const one of [...running.values()].reverse()) await one.stop();
  }
}

async function startService(service: Service, storesCards: boolean): Promise<Running> {
  // The peers do not deliver what they store, so the service leaves that to another process; `deliveries` measures it.
  const pid = await service.start(storesCards ? { WEBHOOK_WORKER: 'off' } : {});
  // The peers copy its rows.
  if (storesCards) await ask(service, '/payment-methods', makeCard());
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
  // A new process takes three times as long for its first requests as for those after ten seconds.
  for (const { url, token } of found) await load(url, call, token, { seconds: 4 * seconds });
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

/** Of each card other values. */
const own = ['id', 'fingerprint', 'created_at', 'updated_at'];
const comparable = ({ items, ...body }: Record<string, unknown>) =>
  items ?? Object.fromEntries(Object.entries(body).filter(([name]) => !own.includes(name)));

/** A peer that sends something else, or leaves out the checks, is faster for no reason that matters here. */
async function prove(peer: Running, ours: Service, { method, path }: Call): Promise<void> {
  const card = method === 'POST' ? makeCard() : undefined;
  const [sent, expected] = [await ask(peer, path, card), await ask(ours, path, card)];
  if (!isDeepStrictEqual(comparable(sent.body), comparable(expected.body)))
    throw new Error(`${peer.url} answers ${JSON.stringify(sent)} instead of ${JSON.stringify(expected)}`);
  const anonymous = await ask({ url: peer.url }, path, card);
  if (anonymous.status !== 401) throw new Error(`${peer.url} answers without a token.`);
  const invalid = await (card ? ask(peer, path, {}) : ask(peer, '/transactions?limit=0'));
  if (invalid.status < 400) throw new Error(`${peer.url} accepts what is invalid.`);
}
