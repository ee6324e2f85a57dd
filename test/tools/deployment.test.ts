// Dockerfile, .dockerignore, compose.yaml, the systemd unit and what docs/operating.md says about them fit the service.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/config.ts';
import { ConfigurationFault } from '../../server/kit/faults.ts';
import { fileNameOf, namesWithFiles, secretNames } from '../../server/settings.ts';
import { inUnit, namesInDotEnv, readCompose, unitFile } from '../support/deployment.ts';
import { root, settingNames } from '../support/processes.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dockerfile = read('Dockerfile');
const lastStage = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
const textsOf = (name: string, text = lastStage) =>
  [...text.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, value = '']) => value);
const { services, networks } = readCompose();
const { payments, database } = services;

/** Seconds after SIGTERM until the process has ended at the latest. */
const secondsToStop = (shutdownDelay: string | undefined) => Number(shutdownDelay ?? 0) + 20;

/** The lines `NAME=…` in the block of docs/operating.md that is named like this. */
const namesInDocs = (file: string) => {
  const [, block = ''] =
    new RegExp(`\`${file}\`[^\`]*\`\`\`sh\n([^]*?)\`\`\``).exec(read('docs/operating.md')) ?? [];
  return [...block.matchAll(/^ *([A-Z_]+)=/gm)].map(([, name = '']) => name);
};

it('docs/operating.md quotes what the service, its alerts, Node and PostgreSQL say', () => {
  const [, table = ''] = /## Troubleshooting\n([^]*?)\n## /.exec(read('docs/operating.md')) ?? [];
  const seen = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => [
    ...cell.matchAll(/`([^`]+)`/g),
  ]);
  const quoted = seen.map(([, text = '']) => text).filter((text) => !/^(\/readyz|"level":50)$/.test(text));
  const sources = readdirSync(join(root, 'server'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(join('server', file)));
  const ours = [...sources, read('docs/monitoring/alerts.yaml')].join('\n');
  expect(quoted.filter((text) => !ours.includes(text))).toEqual([
    ...['connect ECONNREFUSED', 'password authentication failed', 'certificate has expired'],
  ]);
  expect(quoted.length).toBeGreaterThan(12);
});

describe('Dockerfile', () => {
  it('uses one image by its name, without the address of a registry', () => {
    expect(textsOf('FROM', dockerfile)).toEqual(['node:22-slim AS build', 'node:22-slim']);
  });

  it('sets only variables that the service knows', () => {
    const names = textsOf('ENV').map((text) => text.split('=')[0]);
    expect(names).toContain('ENVIRONMENT');
    expect(names.filter((name = '') => ![...settingNames, 'NODE_ENV', 'PATH'].includes(name))).toEqual([]);
  });

  it('runs Node itself, as a user that is not root, given as numbers', () => {
    expect(textsOf('CMD')).toEqual(['["node", "dist/server/main.js"]']);
    expect(textsOf('USER')).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
  });
});

describe('.dockerignore', () => {
  it('leaves everything out but a list, and keys, data and packages also below that', () => {
    const lines = read('.dockerignore').split('\n');
    expect(lines.filter((line) => /^[^#]/.test(line))[0]).toBe('*');
    expect(lines).toEqual(expect.arrayContaining(['**/.env', '**/*.pem', '**/node_modules']));
  });
});

describe('compose.yaml', () => {
  it('sets only variables that the service knows, and no secret', () => {
    expect(Object.keys(payments.environment).filter((name) => !settingNames.includes(name))).toEqual([]);
    for (const name of secretNames) expect(payments.environment[name]).toMatch(/^\$\{\w+:\?[^}]+\}$/);
    expect(database.environment.POSTGRES_PASSWORD).toMatch(/^\$\{\w+:\?[^}]+\}$/);
  });

  it('takes from .env what docs/operating.md writes there', () => {
    expect(namesInDocs('.env').sort()).toEqual(namesInDotEnv(readCompose()).sort());
  });

  it('publishes the service on this machine only, and the database not at all', () => {
    expect(payments.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
    expect(database.ports).toBeUndefined();
    expect(database.networks.map((name) => networks[name])).toEqual([{ internal: true }]);
  });

  it('mounts the roots read-only', () => {
    expect([payments.read_only, database.read_only]).toEqual([true, true]);
  });

  it('gives the service the time that it needs to stop', () => {
    const grace = Number(/^(\d+)s$/.exec(payments.stop_grace_period)?.[1]);
    expect(grace).toBeGreaterThan(secondsToStop(payments.environment.SHUTDOWN_DELAY));
  });
});

describe('the unit of systemd', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'payments-unit-'));
  afterAll(() => {
    rmSync(scratch, { recursive: true, force: true });
  });
  const variables = new Map(
    inUnit('Environment').flatMap((text) => text.split(' ').map((one) => one.split('=') as [string, string])),
  );

  it('sets only variables that the service knows; the file with the others is in docs/operating.md', () => {
    expect(variables.get('ENVIRONMENT')).toBe('production');
    expect([...variables.keys()].filter((name) => ![...settingNames, 'NODE_ENV'].includes(name))).toEqual([]);
    const [file = ''] = inUnit('EnvironmentFile');
    const names = namesInDocs(file);
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL', 'PUBLIC_URL', ...secretNames]));
    expect(names.filter((name) => !settingNames.includes(name))).toEqual([]);
  });

  it('runs what the image runs, with the time that it needs to stop', () => {
    const [program = '', ...args] = (inUnit('ExecStart')[0] ?? '').split(' ');
    expect([program.replace(/^.*\//, ''), ...args]).toEqual(JSON.parse(textsOf('CMD')[0] ?? '[]'));
    expect(Number(inUnit('TimeoutStopSec')[0])).toBeGreaterThan(
      secondsToStop(variables.get('SHUTDOWN_DELAY')),
    );
  });

  it('is not started again for a fault of its arguments or settings', () => {
    expect(inUnit('RestartPreventExitStatus')).toEqual([`2 ${new ConfigurationFault('x').exitCode}`]);
  });

  it('may use more memory than the alert tolerates, as much as the container', () => {
    const [, share, megabytes] =
      /process_resident_memory_bytes > ([\d.]+) \* (\d+) \* 1024/.exec(read('docs/monitoring/alerts.yaml')) ??
      [];
    expect(share).toBe('0.8');
    expect(inUnit('MemoryMax')).toEqual([`${megabytes}M`]);
    expect(payments.mem_limit).toBe(`${megabytes}m`);
  });

  const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
  const analyze = (args: string[], more = '') => {
    // The program must exist, and Node may be elsewhere on this machine.
    const copy = join(scratch, 'payments.service');
    writeFileSync(copy, readFileSync(unitFile, 'utf8').replace('/usr/bin/node', process.execPath) + more);
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, copy], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  /** It also reads units of this machine that ours names. */
  const mistakes = (more?: string) =>
    analyze(['verify'], more)
      .said.split('\n')
      .filter((line) => line.includes('payments.service'));

  it.skipIf(!isInstalled)('has no mistakes that systemd can find', () => {
    expect(mistakes()).toEqual([]);
  });

  it('takes the credentials of the guide for operators, in variables that the service knows', () => {
    const [, block = ''] = /```ini\n([^]*?)```/.exec(read('docs/guides/operator.md')) ?? [];
    const credentials = [...block.matchAll(/^LoadCredential=(\w+):/gm)].map(([, name]) => `%d/${name ?? ''}`);
    const variables = [...block.matchAll(/^Environment=(\w+)=(.*)$/gm)];
    expect(variables.map(([, name]) => name).sort()).toEqual(namesWithFiles.map(fileNameOf).sort());
    expect(variables.map(([, , path]) => path)).toEqual(credentials);
    if (isInstalled) expect(mistakes(block)).toEqual([]);
  });

  it('works with the files that the guide for operators creates', () => {
    // In parentheses, without the command that follows the first of them.
    const blocks = read('docs/guides/operator.md').matchAll(/^\(umask 077; set -o noclobber[^]*?^\)$/gm);
    for (const [block] of blocks) {
      const lines = block.replaceAll('/etc/payments', scratch).replace('…', 'x');
      expect(spawnSync('bash', ['-c', lines], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    }
    const env = (file: string) =>
      parseEnv(readFileSync(join(scratch, file), 'utf8')) as Record<string, string>;
    expect(readConfig(env('command.env'))).toMatchObject({ environment: 'production', warnings: [] });
    expect(Object.keys(env('payments.env'))).toEqual(['ENVIRONMENT', 'PUBLIC_URL']);
    expect(env('owner.env')).toEqual({
      ENVIRONMENT: 'production',
      DATABASE_URL: 'postgres://payments_owner:x@127.0.0.1:5432/payments',
    });
  });

  it.skipIf(!isInstalled)('is hardened: systemd rates its exposure 2 of 10 or less', () => {
    const { status, said } = analyze(['security', '--offline=yes', '--threshold=20']);
    expect(status, said).toBe(0);
  });
});
