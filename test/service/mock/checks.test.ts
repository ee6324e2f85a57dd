// What the parity suite cannot test: invalid HTTP, invalid tokens, and headers of the mock's answers.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signToken } from '../../../client/server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { startTestMock, type TestMock } from './support.ts';

let mock: TestMock;
let service: TestService;
beforeAll(async () => {
  [mock, service] = await Promise.all([startTestMock(), startTestService()]);
});
afterAll(async () => {
  await mock[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

describe('the mock answers invalid HTTP as the service does', () => {
  it('bytes that are not HTTP', async () => {
    const answers = await Promise.all(
      [mock.url, service.url].map((url) => raw(url, 'GET / unicorn\r\n\r\n')),
    );
    const [mocked, real] = answers.map((text) => text.replace(/X-Request-ID: .*/, ''));
    expect(mocked).toContain('"code":"bad_request"');
    expect(mocked).toBe(real);
  });

  it('an absolute URL in the request line, which stands for its path', async () => {
    const line = 'GET http://x/transactions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = await Promise.all([mock.url, service.url].map((url) => raw(url, line)));
    expect(answers.map((text) => text.split('\r\n')[0])).toEqual(Array(2).fill('HTTP/1.1 401 Unauthorized'));
  });
});

describe('tokens', () => {
  it('that may only read see no secrets of subscriptions, as at the service', async () => {
    const path = '/webhook-subscriptions';
    const body = { url: 'https://shop.example/hooks' };
    await service.call('POST', path, { token: service.token('*.write'), body });
    for (const scopes of [['*.read'], ['*.read', '*.write']])
      for (const { call } of [mock, service]) {
        const { body: page } = await call('GET', path, { token: service.token(...scopes) });
        const [first] = (page as { items: { secret: string | null }[] }).items;
        expect(first?.secret ?? null).toEqual(
          scopes.length === 1 ? null : (expect.stringMatching(/^whsec_/) as string),
        );
      }
  });

  it.each(['anything', 'a.b.c', 'eyJhbGciOiJub25lIn0.bm8ganNvbg.', '🦄'])(
    'any opaque text passes: %s',
    async (text) => {
      const { status } = await mock.call('GET', '/transactions', { token: encodeURIComponent(text) });
      expect(status).toBe(200);
    },
  );

  it.each([undefined, 'transactions.read', [1], ['transactions.everything']])(
    'a JWT whose scopes are %j is no token at all, as at the service',
    async (value) => {
      const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
      const text = `${part({ alg: 'ES512', typ: 'JWT' })}.${part({ scopes: value })}.c2ln`;
      expect((await mock.call('GET', '/transactions', { token: text })).status).toBe(401);
    },
  );
});

describe('a JWT that has expired', () => {
  it.each([
    [-120, 401],
    // Clocks may differ by a minute.
    [-30, 200],
    [120, 200],
  ])('%i seconds from now is answered with %i, as at the service', async (seconds, expected) => {
    const privateKey = readFileSync(join(service.config.dataDir, 'sandbox-key.pem'));
    const now = () => new Date(Date.now() + (seconds - 600) * 1000);
    const token = await signToken({ privateKey, scopes: ['*.read'], lifetimeSeconds: 600, now });
    mock.lines.length = 0;
    for (const { call } of [mock, service])
      expect((await call('GET', '/transactions', { token })).status).toBe(expected);
    if (expected === 401)
      await expect.poll(() => mock.lines.join()).toContain('the token is a JWT that has expired');
  });
});

describe('CORS', () => {
  it('a preflight is answered before anything else, and lets Prefer through', async () => {
    const response = await fetch(`${mock.url}/unicorns`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Prefer/);
  });
});

describe('request IDs', () => {
  it("the caller's is kept if it is valid", async () => {
    const ids = await Promise.all(
      ['req-1', 'not sane'].map(async (id) => {
        const { headers } = await mock.call('GET', '/transactions', { headers: { 'X-Request-ID': id } });
        return headers.get('x-request-id');
      }),
    );
    expect(ids[0]).toBe('req-1');
    expect(ids[1]).not.toBe('not sane');
  });
});

function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((done, failed) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', failed);
    socket.on('close', () => {
      done(Buffer.concat(chunks).toString('utf8'));
    });
  });
}
