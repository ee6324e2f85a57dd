// `npm run bench`: speed side by side, in one run on one machine: the service with all its checks, and an Express that sends
// the same bytes and checks nothing. Ratios travel between machines, seconds do not.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import express from 'express';
import { root } from './support/redocly.ts';

const help = `Measure the service beside a bare Express that sends the same bytes.

  npm run bench                   5 seconds each, 16 callers
  npm run bench -- --seconds 20   longer
  npm run bench -- --json         for programs`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

const callers = 16;

async function measure(
  url: string,
  headers: Record<string, string>,
): Promise<{ perSecond: number; bytes: number }> {
  const ends = performance.now() + Number(values.seconds) * 1000;
  const begun = performance.now();
  let done = 0;
  let bytes = 0;
  const caller = async () => {
    while (performance.now() < ends) {
      const response = await fetch(url, { headers });
      const body = await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      bytes = body.byteLength;
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: Math.round((done / (performance.now() - begun)) * 1000), bytes };
}

function startService(dataDir: string): Promise<{ url: string; child: ChildProcess }> {
  const env = { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, ['--import', 'tsx', 'server/main.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      const url = /"url":"([^"]+)","msg":"listening"/.exec(said)?.[1];
      if (url !== undefined) resolve({ url, child });
    });
    child.once('exit', () => {
      reject(new Error('The service did not start.'));
    });
  });
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-'));
  const { url, child } = await startService(dataDir);
  const cli = ['--import', 'tsx', 'server/cli/main.ts', 'token', '--scopes', '*.read'];
  const token = spawnSync(process.execPath, cli, {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir },
    encoding: 'utf8',
  }).stdout.trim();
  const headers = { Authorization: `Bearer ${token}` };
  const rows = [];
  for (const path of [
    '/card-scheme-definitions',
    '/transactions?limit=20',
    '/transactions?limit=20&status=capture_succeeded',
  ]) {
    const payload: unknown = await (await fetch(url + path, { headers })).json();
    const bare = createServer(express().use((_req, res) => void res.json(payload))).listen(0, '127.0.0.1');
    await new Promise((resolve) => bare.once('listening', resolve));
    const service = await measure(url + path, headers);
    const baseline = await measure(`http://127.0.0.1:${(bare.address() as AddressInfo).port}/`, {});
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
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  rmSync(dataDir, { recursive: true, force: true });
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else console.table(rows);
}

if (values.help) console.log(help);
else await main();
