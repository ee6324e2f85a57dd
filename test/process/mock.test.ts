// The running mock: its log, --delay, reloading the contract, and constant memory.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, get, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDelay } from '../../mock/http/delay.ts';
import { limits } from '../../server/kit/http/listen.ts';
import {
  contractFile,
  everyExample,
  rightRequest,
  send,
  startTestMock,
  table,
  type TestMock,
} from '../service/mock/support.ts';
import { leaks } from '../support/heap.ts';
import { runNode, startNode } from '../support/processes.ts';
import { allCases } from '../support/random.ts';

describe('the line per request', () => {
  let mock: TestMock;
  beforeAll(async () => {
    mock = await startTestMock();
  });
  afterAll(() => mock[Symbol.asyncDispose]());

  const card = { method: 'card', number: '4012888888881881', expiration_date: '12/39' };

  it.each<
    [name: string, method: string, path: string, options: Parameters<TestMock['call']>[2], line: RegExp]
  >([
    [
      'success',
      'POST',
      '/payment-methods',
      { body: card },
      /^POST \/payment-methods → 201 \(the card number leads to processing\) \d+ ms$/,
    ],
    ['Prefer', 'GET', '/transactions', { headers: { Prefer: 'code=500' } }, /→ 500 \(Prefer: code=500\)/],
    [
      'violations',
      'POST',
      '/payment-methods',
      { body: { number: '4012888888881881' } },
      /→ 400 \(body \/method is required; body \/expiration_date is required\)/,
    ],
    ['no token', 'GET', '/transactions', { token: null }, /→ 401 \(no bearer token\)/],
    ['no such path', 'GET', '/unicorns?secret=1', {}, /^GET \/unicorns → 404 \(unknown path\)/],
    [
      'a letter missing',
      'GET',
      '/transaction?search=jane',
      {},
      /→ 404 \(unknown path; did you mean \/transactions\?\)/,
    ],
    [
      'no such account',
      'GET',
      '/transactions',
      { headers: { 'X-Service-Merchant-Account-ID': 'x' } },
      /the mock has default and marketplace/,
    ],
  ])('%s: what was answered, and why', async (_name, method, path, options, line) => {
    mock.lines.length = 0;
    await mock.call(method, path, options);
    await vi.waitFor(() => {
      expect(mock.lines).toEqual([expect.stringMatching(line)]);
    });
    expect(mock.lines.join()).not.toMatch(/4012888888881881|secret/);
  });

  it('does not pass on terminal control characters', async () => {
    mock.lines.length = 0;
    await mock.call('POST', '/webhook-subscriptions', {
      body: { 'a\u001b[2J\nb': 1, url: 'https://a.example' },
    });
    await vi.waitFor(() => {
      expect(mock.lines).toHaveLength(1);
    });
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(mock.lines[0]).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe('--delay', () => {
  it('delays every answer: those of a mock without it arrive first', async () => {
    await using slow = await startTestMock({ delayMilliseconds: 10_000 });
    await using quick = await startTestMock();
    const controller = new AbortController();
    const paths = ['/transactions', '/unicorns'];
    const settled = vi.fn();
    const held = paths.map((path) =>
      fetch(slow.url + path, { signal: controller.signal }).then(settled, () => 'hung up'),
    );
    for (const path of paths) await quick.call('GET', path);
    expect(settled).not.toHaveBeenCalled();
    controller.abort();
    expect(await Promise.all(held)).toEqual(['hung up', 'hung up']);
  });
});

describe('a delay', () => {
  it('ends when its client goes', async () => {
    const { delay } = createDelay();
    const ended = new Promise<void>((done) => {
      const server = createServer((_req, res) => {
        res.flushHeaders();
        void delay(res, 3_600_000).then(done);
      }).listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        get({ host: '127.0.0.1', port, agent: false }, (answer) => answer.destroy());
      });
      onTestFinished(() => void server.close());
    });
    await ended;
  });

  it('ends when the mock stops: its answer comes at once', async () => {
    const mock = await startTestMock();
    const headers = { Authorization: 'Bearer x', Prefer: 'delay=30000', Expect: '100-continue' };
    const asked = request(`${mock.url}/transactions`, { headers, agent: false }).end();
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    await once(asked, 'continue');
    await mock[Symbol.asyncDispose]();
    const [answer] = await answered;
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });

  it('may be as long as connections may be idle', async () => {
    const { stalledMilliseconds } = limits;
    onTestFinished(() => void (limits.stalledMilliseconds = stalledMilliseconds));
    // Long enough for a slow machine to begin with the answer.
    limits.stalledMilliseconds = 2_000;
    await using mock = await startTestMock();
    const { status } = await mock.call('GET', '/transactions', { headers: { Prefer: 'delay=4000' } });
    expect(status).toBe(200);
  });
});

describe('a contract that changes', () => {
  it('is reloaded, with new operations; a faulty one is reported, and the old one stays in use', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mock-'));
    const file = join(folder, 'openapi.json');
    const text = readFileSync(contractFile, 'utf8');
    writeFileSync(file, text);
    await using mock = await startTestMock({ contractFile: file });
    const said = (words: string) =>
      vi.waitFor(
        () => {
          expect(mock.lines.join('\n')).toContain(words);
        },
        { timeout: 30_000, interval: 50 },
      );
    const unicorns = () => send(mock.url, 'GET', '/unicorns?limit=1');
    expect((await unicorns()).status).toBe(404);

    const changed = JSON.parse(text) as { info: { version: string }; paths: Record<string, { get: object }> };
    changed.info.version = '1.1.0';
    changed.paths['/unicorns'] = {
      get: {
        ...changed.paths['/transactions']?.get,
        ...{ operationId: 'listUnicorns', deprecated: true },
        'x-deprecation': { since: '2027-01-01', sunset: '2028-02-01' },
      },
    };
    writeFileSync(file, JSON.stringify(changed));
    await said(`Contract reloaded: version 1.1.0, ${table.length + 1} operations`);
    const { headers, ...answer } = await unicorns();
    expect(answer).toMatchObject({ status: 200, body: { limit: 1 } });
    // As the service sends it; Prism's own is `true`.
    expect(headers.get('deprecation')).toBe('@1798761600');
    expect(headers.get('sunset')).toBe('Tue, 01 Feb 2028 00:00:00 GMT');

    mock.lines.length = 0;
    writeFileSync(file, text.replace(/"maxItems": 10\b/, '"maxItems": "ten"'));
    await said('The new contract is faulty; the mock keeps serving the previous one.');
    expect(mock.lines.join('\n')).toMatch(/The contract cannot be used: maxItems value must be/);
    expect((await unicorns()).status).toBe(200);

    mock.lines.length = 0;
    writeFileSync(file, '{"openapi": ');
    await said('is not valid JSON');
    expect((await unicorns()).status).toBe(200);

    writeFileSync(file, text);
    const { info } = JSON.parse(text) as { info: { version: string } };
    await said(`version ${info.version}, ${table.length} operations`);
    expect((await unicorns()).status).toBe(404);
    await rm(folder, { recursive: true });
  });
});

// They take long.
if (allCases) describe('thousands of mixed requests', sendMany);

function sendMany(): void {
  const preferring = (index: number, status: number, name: string): Record<string, string> => {
    if (index % 3 === 0) return { Prefer: `code=${status}, example=${name}` };
    return index % 20 === 1 ? { Prefer: `code=${status}, delay=1` } : {};
  };

  it('do not increase memory', async () => {
    await using mock = await startTestMock({ log: () => undefined });
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const mixed = everyExample.map(({ id, status, name }, index) => ({
      ...rightRequest(id),
      headers: preferring(index, status, name),
    }));
    let next = 0;
    // 400 bytes per request.
    const isLeaking = await leaks(0.3, async (round) => {
      const work = async () => {
        for (let at = next++; at < 750 * (round + 1); at = next++) {
          const chosen = mixed[at % mixed.length];
          if (chosen) await knock(mock.url, agent, chosen, at);
        }
      };
      await Promise.all(Array.from({ length: 20 }, work));
    });
    agent.destroy();
    expect(isLeaking).toBe(false);
  }, 300_000);

  // Every request has another content type, query, token, request ID and body, which a leaking cache would keep.
  function knock(
    url: string,
    agent: Agent,
    { method, path, body, headers }: Knock,
    at: number,
  ): Promise<void> {
    const target = at % 7 === 0 ? `${path}?cursor=${at}` : at % 11 === 0 ? `/path-${at}` : path;
    const text = at % 13 === 0 ? `{"broken-${at}"` : body === undefined ? undefined : JSON.stringify(body);
    return new Promise((done, failed) => {
      const asked = request(url + target, {
        agent,
        method,
        headers: {
          ...headers,
          Authorization: `Bearer token-${at}`,
          'X-Request-ID': `request-${at}`,
          'Content-Type': at % 5 === 0 ? `application/json; v=${at}` : 'application/json',
        },
      });
      asked.on('error', failed);
      asked.on('response', (response) => {
        response.resume();
        response.on('end', done);
      });
      asked.end(text);
    });
  }

  interface Knock {
    method: string;
    path: string;
    body?: unknown;
    headers: Record<string, string>;
  }
}

describe('npm run mock', () => {
  it('a port that is taken is named, with where it was set', async () => {
    await using taken = await startTestMock();
    const { port } = new URL(taken.url);
    const { status, output } = await runNode('mock/main.ts', [], { env: { PORT: port } });
    expect([status, output]).toEqual([1, `Port ${port} (from PORT) is taken. Choose another: PORT=4011\n`]);
  });

  it.each(['--delay', '--seed'])('a wrong value of %s is refused in one sentence', async (option) => {
    const { status, output } = await runNode('mock/main.ts', [option, 'long']);
    expect([status, output]).toEqual([1, expect.stringContaining('whole number')]);
    expect(output).not.toContain('    at ');
  });

  it('starts, answers the call that it prints, logs it, and stops on a signal', async () => {
    const child = startNode('mock/main.ts', ['--delay', '150', '--seed', '7'], { env: { PORT: '0' } });
    const url = await vi.waitFor(
      () => {
        const [, found] = /Mock of the payments service: (\S+)/.exec(child.output()) ?? [];
        if (found === undefined) throw new Error(`it said only: ${child.output()}`);
        return found;
      },
      { timeout: 60_000, interval: 50 },
    );
    expect((await send(url, 'GET', '/transactions')).status).toBe(200);
    await vi.waitFor(() => {
      expect(child.output()).toMatch(/GET \/transactions → 200 \(option: --dynamic\) \d+ ms/);
    });
    child.process.kill('SIGTERM');
    expect((await child.ended).status).toBe(0);
  });
});
