// Starts the service to be measured: its own process and data folder, with its log kept off the terminal.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export interface BenchedService extends AsyncDisposable {
  url: string;
  token: string;
}

export async function startService(): Promise<BenchedService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-'));
  const env = { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, ['--import', 'tsx', 'server/main.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const findUrl = (chunk: string) => {
      output += chunk;
      const found = /"url":"([^"]+)","msg":"listening"/.exec(output)?.[1];
      if (found === undefined) return;
      // Keep draining stdout: the service would block on a full pipe.
      child.stdout.off('data', findUrl).resume();
      resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', findUrl);
    child.once('exit', () => {
      reject(new Error('The service did not start.'));
    });
  });
  const cli = ['--import', 'tsx', 'server/cli/main.ts', 'token', '--scopes', '*.read,*.write'];
  const token = spawnSync(process.execPath, cli, { cwd: root, env, encoding: 'utf8' }).stdout.trim();
  return {
    url,
    token,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
