// Requests per second: the service with all its checks, compared with an Express app that sends the same bytes unchecked.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { BenchedService } from './service.ts';

const callers = 16;

const paths = [
  '/card-scheme-definitions',
  '/transactions?limit=20',
  '/transactions?limit=20&status=capture_succeeded',
];

export async function benchRequests({ url, token }: BenchedService, seconds: number) {
  const headers = { Authorization: `Bearer ${token}` };
  const rows = [];
  for (const path of paths) {
    const payload: unknown = await (await fetch(url + path, { headers })).json();
    const bare = createServer(express().use((_req, res) => void res.json(payload))).listen(0, '127.0.0.1');
    await new Promise((resolve) => bare.once('listening', resolve));
    const service = await measure(url + path, headers, seconds);
    const baseline = await measure(`http://127.0.0.1:${(bare.address() as AddressInfo).port}/`, {}, seconds);
    bare.close();
    bare.closeAllConnections();
    rows.push({
      path,
      bytes: service.bytes,
      service: service.perSecond,
      bareExpress: baseline.perSecond,
      ratio: (service.perSecond / baseline.perSecond).toFixed(2),
    });
  }
  return rows;
}

async function measure(
  url: string,
  headers: Record<string, string>,
  seconds: number,
): Promise<{ perSecond: number; bytes: number }> {
  const start = performance.now();
  const deadline = start + seconds * 1000;
  let done = 0;
  let bytes = 0;
  const caller = async () => {
    while (performance.now() < deadline) {
      const response = await fetch(url, { headers });
      const body = await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      bytes = body.byteLength;
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: Math.round((done / (performance.now() - start)) * 1000), bytes };
}
