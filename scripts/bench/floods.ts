// What another account notices of a flood of tokens that are refused: its median time for a page alone, and during the flood.
import { createPrivateKey, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import jwt from 'jsonwebtoken';
import { ask } from '../support/sandbox.ts';
import { page } from './load.ts';
import { median, type Row } from './report.ts';
import type { Service } from './service.ts';

const sizes = [40, 300];

/** The service is stopped, before and after. */
export async function benchFloods(
  service: Service,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Row[]> {
  const floods = Object.entries(createTokens(service)).flatMap(([name, next]) =>
    sizes.map((connections) => ({ subject: `${name} ${connections}`, next, connections })),
  );
  const rows = ['alone', ...floods.map(({ subject }) => subject)].map((subject): Row => ({
    measure: 'floods',
    subject,
    unit: 'ms',
    value: [],
  }));
  await service.start();
  try {
    await medianTime(service, 4 * seconds);
    for (let round = 0; round < rounds; round += 1) {
      const times = [await medianTime(service, seconds)];
      for (const flood of floods) {
        await using _flood = await beginFlood(service, flood);
        times.push(await medianTime(service, seconds));
      }
      for (const [index, time] of times.entries()) rows[index]?.value.push(time);
    }
  } finally {
    await service.stop();
  }
  return rows;
}

/** Of another key pair than the one whose pages are measured. */
function createTokens({ dataDir, payments }: Service): Record<string, () => string> {
  const file = join(dataDir, 'flood.pem');
  payments('keys', 'create', '--name', 'Flood', '--merchant-account', 'marketplace', '--out', file);
  const valid = payments('token', '--key', file, '--scopes', '*.read', '--ttl', '86400').stdout.trim();
  const [head = '', claims = '', signature = ''] = valid.split('.');
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
  const key = createPrivateKey(readFileSync(file));
  const options = { algorithm: 'ES512', keyid: kid, expiresIn: -3600 } as const;
  const expired = jwt.sign({ scopes: ['*.read'] }, key, options);
  const headOf = (other: string) =>
    Buffer.from(JSON.stringify({ alg: 'ES512', typ: 'JWT', kid: other })).toString('base64url');
  return {
    signatures: () => `${head}.${claims}.${signature.slice(0, -8)}${randomBytes(6).toString('base64url')}`,
    expired: () => expired,
    unknown: () => `${headOf(randomBytes(32).toString('base64url'))}.${claims}.${signature}`,
  };
}

/** Until it is disposed of. Returns when it has been refused as often as it has connections. */
async function beginFlood(
  { url }: Service,
  { next, connections }: { next: () => string; connections: number },
) {
  const setupRequest = (request: autocannon.Request) => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${next()}` },
  });
  const requests = [{ setupRequest }];
  let answers = 0;
  const others = new Set<number>();
  const flood = new EventEmitter();
  const running = autocannon({ url: url + page, connections, duration: 3_600, timeout: 60, requests }, () =>
    flood.emit('ended'),
  );
  running.on('response', (_client, status) => {
    answers += 1;
    if (status !== 401) others.add(status);
    if (answers === connections) flood.emit('begun');
  });
  await once(flood, 'begun');
  return {
    async [Symbol.asyncDispose]() {
      const stopped = once(flood, 'ended');
      running.stop();
      await stopped;
      if (others.size > 0) throw new Error(`The flood was answered ${[...others].join(', ')}, not 401.`);
    },
  };
}

/** Of pages one after the other, in milliseconds. */
async function medianTime(service: Service, seconds: number): Promise<number> {
  const times: number[] = [];
  for (const end = performance.now() + 1000 * seconds; performance.now() < end;) {
    const begun = performance.now();
    const { status } = await ask(service, page);
    if (status !== 200) throw new Error(`During a flood another account got ${status}.`);
    times.push(performance.now() - begun);
  }
  return median(times);
}
