// Logs must never contain a token, key, card number, security code, PIN, password or query string; and every line of a
// request has its request ID.
import { randomBytes, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/config.ts';
import type { Deps } from '../../server/handlers/deps.ts';
import { handlers } from '../../server/handlers/index.ts';
import { signToken } from '../../server/kit/access/token.ts';
import { ApiError } from '../../server/kit/errors.ts';
import { refusalOf, unknownPath } from '../../server/kit/http/access-log.ts';
import { createLog, redact } from '../../server/kit/log/log.ts';
import { createTerminalLine } from '../../server/kit/log/terminal.ts';
import { secretNames } from '../../server/settings.ts';
import { startService, type Service } from '../../server/start.ts';
import { createCaller, sendBytes, type CallOptions, type Caller } from '../support/call.ts';
import { cpuMilliseconds } from '../support/cpu.ts';
import { eventually, newDataDir, type DataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { keyIn } from '../support/keys.ts';
import { startTestService } from '../support/service.ts';

type Line = Record<string, unknown>;

describe('a service at LOG_LEVEL=trace', () => {
  const number = '4111111111111111';
  const giftCard = '6035710000000000123';
  const secrets = Object.fromEntries(secretNames.map((name) => [name, randomBytes(32).toString('base64')]));
  let dataDir: DataDir;
  let databaseUrl: string;
  let service: Service;
  let key: KeyObject;
  let token: string;
  let call: Caller;
  const lines: string[] = [];
  let asked: string[];

  const crash = (): Promise<never> => {
    const sent = { method: 'card', number, security_code: '9z8', nested: { items: [{ pin: 'p-4711' }] } };
    const cause = Object.assign(new Error(`the parser met ${JSON.stringify(sent)}`), {
      body: JSON.stringify(sent),
      detail: `Failing row contains (${number}).`,
    });
    // Its query names a socket; the queries that must not be logged are those of callers.
    const [address = ''] = databaseUrl.split('?');
    return Promise.reject(new Error(`no use for ${token} signed with ${pem()} at ${address}`, { cause }));
  };
  const databaseCrash = async (): Promise<never> => {
    await sql`select ${`${number} p-4711`}::text::integer`.execute(service.database.db);
    throw new Error('the database accepted it');
  };
  const pem = () => key.export({ type: 'pkcs8', format: 'pem' }) as string;

  beforeAll(async () => {
    dataDir = await newDataDir();
    databaseUrl = await createTestDatabase();
    const env = {
      LOG_LEVEL: 'trace',
      PORT: '0',
      WEBHOOK_WORKER: 'off',
      DATA_DIR: dataDir.path,
      DATABASE_URL: databaseUrl,
      ...secrets,
    };
    const config = readConfig(env);
    const log = createLog(config.logLevel, { write: (line: string) => void lines.push(line) });
    service = await startService(config, log, {
      handlers: { ...handlers, listTransactions: crash, listWebhookSubscriptions: databaseCrash },
    });
    key = keyIn(dataDir.path);
    token = signToken(key, ['*.read', '*.write', 'embed'], 600);
    call = createCaller(service.url);
    lines.splice(0);
    asked = await mixedRequests();
    const logged = (id: string) => lines.some((line) => line.includes(`"requestId":"${id}"`));
    await eventually(() => asked.every(logged), 'every request is logged');
  });
  afterAll(async () => {
    await service.close();
    await dataDir[Symbol.asyncDispose]();
  });

  /** Returns the request IDs of the answers. */
  async function mixedRequests(): Promise<string[]> {
    const card = { method: 'card', number, expiration_date: '12/39', security_code: '9z8' };
    const [head = '', payload = ''] = token.split('.');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const requests: [method: string, path: string, options: CallOptions][] = [
      ['GET', '/api-key-pairs?limit=1', { token }],
      ['GET', '/card-scheme-definitions', { token }],
      ['GET', '/card-scheme-definitions', { token: `${head}.${payload}.${'A'.repeat(176)}` }],
      ['GET', '/card-scheme-definitions', { token: `${none}.${payload}.` }],
      ['GET', '/card-scheme-definitions', { token: 'hunter2-token' }],
      ['GET', '/card-scheme-definitions', { headers: { Authorization: `Basic ${btoa('root:hunter2')}` } }],
      ['POST', '/payment-methods', { token, body: { ...card, security_code: '123' } }],
      ['POST', '/payment-methods', { token, body: card }],
      ['POST', '/payment-methods', { token, body: { ...card, number: `${number}x`, unknown: number } }],
      ['POST', '/payment-methods', { token, raw: `${JSON.stringify(card).slice(0, -1)},` }],
      ['POST', '/payment-methods', { token, raw: JSON.stringify(card), headers: { 'Content-Type': number } }],
      ['POST', '/gift-cards/balances', { token, body: { items: [{ number: giftCard, pin: 'p-4711' }] } }],
      ['POST', '/gift-cards/balances', { token, body: { items: [{ number: 'x', pin: 'p-4711', id: 'x' }] } }],
      [
        'POST',
        '/webhook-subscriptions',
        {
          token,
          body: {
            url: 'https://receiver.example/hook',
            authentication: { kind: 'basic', username: 'root', password: 'hunter2' },
          },
        },
      ],
      ['GET', '/transactions?buyer_external_identifier=customer-0815', { token }],
      ['GET', '/transactions?unicorn=customer-0815', { token }],
      ['GET', '/transactions?search=customer-0815', {}],
      ['GET', '/webhook-subscriptions', { token }],
      ['GET', `/cards/${number}?of=customer-0815`, { token }],
      ['DELETE', '/transactions?search=customer-0815', { token }],
    ];
    const ids: string[] = [];
    for (const [method, path, options] of requests)
      ids.push((await call(method, path, options)).headers.get('x-request-id') ?? '');
    const file = await fetch(`${service.url}/openapi.json?of=customer-0815`);
    ids.push(file.headers.get('x-request-id') ?? '');
    const nonsense = `GET /?search=customer-0815 HTTP/1.1\r\nAuthorization ${token}\r\n\r\n`;
    const [, id = ''] = /X-Request-ID: (.+)\r/.exec(await sendBytes(service.url, nonsense)) ?? [];
    return [...ids, id];
  }

  it('writes lines of JSON, each with the id of its request', () => {
    expect(lines.length).toBeGreaterThan(asked.length);
    for (const line of lines) {
      const { requestId, job, time } = JSON.parse(line) as Line;
      if (job === undefined) expect(asked, line).toContain(requestId);
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    }
  });

  it('logs the result of every request', () => {
    const ended = lines.map((line) => JSON.parse(line) as Line).filter(({ ms }) => ms !== undefined);
    const statuses = ended.map(({ path, status }) => `${String(path)} ${String(status)}`);
    for (const one of [
      '/transactions 500',
      '/webhook-subscriptions 500',
      '/cards/… 404',
      '/payment-methods 400',
    ])
      expect(statuses).toContain(one);
    const accounts = (path: string) =>
      new Set(ended.filter((line) => line.path === path).map((line) => line.account));
    expect(accounts('/payment-methods')).toContain('default');
    expect(accounts('/cards/…')).toEqual(new Set([undefined]));
  });

  it('logs what is served from files at the level debug', () => {
    const ended = lines.map((line) => JSON.parse(line) as Line).filter(({ ms }) => ms !== undefined);
    const served = ended.filter(({ path, status }) => path === '/…' && status === 200);
    expect(served).toMatchObject([{ level: 20 }]);
    expect(ended.filter(({ level }) => level === 20)).toEqual(served);
  });

  it.each([
    ['/card-scheme-definitions', 401, 'unauthorized', 'invalid signature'],
    ['/payment-methods', 400, 'bad_request', '/number must'],
    ['/transactions', 400, 'bad_request', '/unicorn is not a known parameter'],
    ['/cards/…', 404, 'not_found', 'unknown path'],
    ['/transactions', 405, 'method_not_allowed', undefined],
  ])('%s %d: says why, on the line of the request', (path, status, code, reason) => {
    const ended = lines.map((line) => JSON.parse(line) as Line).filter(({ ms }) => ms !== undefined);
    const refused = ended.filter((line) => line.path === path && line.status === status);
    expect(refused.map((line) => line.level)).toContain(30);
    expect(refused.map((line) => `${String(line.code)} ${String(line.reason)}`).join('\n')).toContain(
      `${code} ${reason ?? ''}`.trim(),
    );
  });

  it('logs the stack of a crash', () => {
    const errors = lines.map((line) => JSON.parse(line) as Line).filter(({ level }) => level === 50);
    expect(errors).toHaveLength(2);
    expect(JSON.stringify(errors[0])).toContain('logs.test.ts');
    expect(errors[1]).toMatchObject({
      err: { code: '22003', message: 'value "[value]" is out of range for type integer' },
    });
  });

  it.each([
    ['a token, whole or its parts', () => token.split('.')],
    ['a forged token', () => ['hunter2-token', 'AAAAAAAAAA']],
    ['a private key', () => pem().split('\n').slice(1, -2)],
    ['a card number', () => [number]],
    ['the number of a gift card', () => [giftCard]],
    ['a security code', () => ['9z8']],
    ['a PIN', () => ['p-4711']],
    [
      'a password',
      () => ['hunter2', btoa('root:hunter2'), decodeURIComponent(new URL(databaseUrl).password)],
    ],
    ['a query string', () => ['customer-0815', '?']],
    ['a secret of the service', () => Object.values(secrets)],
  ])('never writes %s', (_name, forbidden) => {
    const text = lines.join('');
    for (const word of forbidden()) {
      if (word === '') continue;
      const at = text.indexOf(word);
      expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 200), word).toBe('');
    }
  });
});

describe('the redaction of a line', () => {
  const written = ({ msg, ...object }: Line): Line => {
    const out: string[] = [];
    createLog('trace', { write: (line: string) => void out.push(line) }).info(
      object,
      msg as string | undefined,
    );
    return JSON.parse(out.join('')) as Line;
  };

  it.each([
    [{ token: 'x' }, { token: '[redacted]' }],
    [
      { req: { headers: { authorization: 'Bearer x' } } },
      { req: { headers: { authorization: '[redacted]' } } },
    ],
    [{ a: { b: { c: { d: [{ pin: '1' }] } } } }, { a: { b: { c: { d: [{ pin: '[redacted]' }] } } } }],
    [{ number: 4111 }, { number: '[redacted]' }],
    [
      { password: 'with "quotes" and \\', b: 1 },
      { password: '[redacted]', b: 1 },
    ],
    [{ said: '{"security_code":"123","b":1}' }, { said: '{"security_code":"[redacted]","b":1}' }],
    [{ said: 'card 4111 1111 1111 1111!' }, { said: 'card [number]!' }],
    [{ msg: 'card 378282246310005.' }, { msg: 'card [number].' }],
    [{ said: 'eyJhbGciOiJFUzUxMiJ9.eyJzY29wZXMiOltdfQ.c2ln is bad' }, { said: '[token] is bad' }],
    [{ said: 'at postgres://u:p%40ss@h:5432/d' }, { said: 'at postgres://u:[redacted]@h:5432/d' }],
    [{ said: 'http://h:80/x,http://u:p@h' }, { said: 'http://h:[redacted]@h' }],
    [{ said: 'signed by whsec_q+/w==.' }, { said: 'signed by [secret].' }],
    [{ said: JSON.stringify({ key: 'whsec_q/w' }).replace('/', '\\/') }, { said: '{"key":"[secret]"}' }],
    [{ said: '{"pem":"-----BEGIN PRIVATE KEY-----\\nMIG' }, { said: '{"pem":"[private key]' }],
    [{ said: '{"a":"-----BEGIN PRIVATE KEY-----MIG","b":1}' }, { said: '{"a":"[private key]","b":1}' }],
  ])('%j', (object, expected) => {
    expect(written(object)).toMatchObject(expected);
  });

  it.each([
    { requestId: '1234567890123456789' },
    { requestId: '1b4e28ba-2fa1-41d2-883f-001122334455' },
    { keyPair: '12345678-1234-4123-8123-123456789012' },
    { at: 1763171234567 },
    { url: 'http://127.0.0.1:8080' },
    { said: 'eyJhbGciOiJFUzUxMiJ9 alone' },
    { status: 200, ms: 12.3 },
  ])('leaves %j alone', (object) => {
    expect(written(object)).toMatchObject(object);
  });

  it.each([
    '://:',
    '://a:b@',
    '-eyJ',
    'eyJa.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----END ',
    '"token":"\\',
    '\\"token\\":\\"',
    'token": ',
    '"token" ',
    '"',
    '\\',
    'whsec_\\',
    '4 ',
    '4',
    ' ',
    '😀',
  ])('costs little CPU in 100 kB of %j', (piece) => {
    const text = piece.repeat(100_000 / piece.length);
    expect(cpuMilliseconds(() => redact(text))).toBeLessThan(500);
  });
});

describe('what is shown of a refused request', () => {
  const random = [
    'kR7xqPbWz9LmTnVcYd3sGhJf',
    'whsec_abCdefGhijKlmnOp',
    'dGhpcyBpcyBhIHNlY3JldA',
    'MIHuAgEAMBAG',
  ];

  it.each([
    ...random,
    '123',
    '1234',
    '_41-11-11-11-11-11',
    'a411',
    'ada@example.com',
    'Ada Lovelace',
    '\u001b[2J',
  ])('not a word like %j, in a path or a pointer', (word) => {
    expect(unknownPath(`/x/${word}/y?z`)).toBe('/x/…/y');
    const detail = { location: 'body', pointer: `/x/${word}`, message: 'is wrong', type: 't' } as const;
    expect(refusalOf(new ApiError('bad_request', { details: [detail] })).reason).toBe('/x/… is wrong');
  });

  it('not a card number or a security code that is spread over a path', () => {
    expect(unknownPath('/cards/41/11/11/1/cvv/12')).toBe('/cards/…/…/…/…/cvv/…');
  });

  it('every name of a parameter or property of the contract', () => {
    const names = new Set<string>();
    JSON.parse(readFileSync('generated/openapi.json', 'utf8'), (_key, value: unknown) => {
      if (typeof value !== 'object' || value === null) return value;
      if ('in' in value && 'name' in value) names.add(String(value.name));
      if ('properties' in value) for (const name of Object.keys(value.properties as object)) names.add(name);
      return value;
    });
    expect(names.size).toBeGreaterThan(100);
    expect([...names].filter((name) => unknownPath(`/${name}`) !== `/${name}`)).toEqual([]);
  });
});

describe('a wrong statement', () => {
  const number = '4111111111111111';
  const wrong = async (_input: unknown, { db }: Deps): Promise<never> => {
    await sql`select * from roles where name = ${`${number} Jane`} andd slug = ${sql.lit(number)}`.execute(
      db,
    );
    throw new Error('the database accepted it');
  };
  const lineOf = async (environment: 'sandbox' | 'production') => {
    await using service = await startTestService({
      config: { environment },
      handlers: { ...handlers, listCardSchemeDefinitions: wrong },
    });
    const { token } = await service.pair();
    expect((await service.call('GET', '/card-scheme-definitions', { token: token('*.read') })).status).toBe(
      500,
    );
    expect(service.logs.join('')).not.toMatch(/4111|Jane/);
    return service.logs.find((line) => line.includes('andd')) ?? '';
  };

  it('is logged without its values, marked where PostgreSQL stopped, with who waited for it', async () => {
    const shown = createTerminalLine(false)(await lineOf('sandbox'));
    expect(shown).toContain(`"statement": "select * from roles where name = $1 ▶andd slug = '[number]'"`);
    expect(shown).toMatch(
      /error: syntax error at or near "andd"\n[^]* at (?:async )?wrong .*logs\.test\.ts:/,
    );
  });

  it('is not logged in production', async () => {
    const { err } = JSON.parse(await lineOf('production')) as { err: Line };
    expect(err).toEqual({ type: 'DatabaseError', message: err.message, stack: err.stack, code: '42601' });
    expect(err.stack).not.toContain('findWrong');
  });
});

describe('a line on a terminal', () => {
  const time = '2026-11-15T12:34:56.789Z';
  const plain = createTerminalLine(false);

  it.each([
    [
      {
        ...{ requestId: 'r-1', method: 'POST', path: '/payment-methods', status: 409, ms: 12.3 },
        ...{ code: 'duplicate_record', reason: '/external_identifier is taken' },
      },
      '[12:34:56] INFO: POST /payment-methods 409 duplicate_record /external_identifier is taken {"requestId":"r-1","ms":12.3}\n',
    ],
    [{ msg: 'listening', port: 8080 }, '[12:34:56] INFO: listening {"port":8080}\n'],
    [{ level: 40, msg: 'slow' }, '[12:34:56] WARN: slow\n'],
  ])('%j', (line, expected) => {
    expect(plain(`${JSON.stringify({ level: 30, time, ...line })}\n`)).toBe(expected);
  });

  it('shows an error with its stack and what to do', () => {
    const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at x', hint: 'Do.' };
    const shown = plain(JSON.stringify({ level: 50, time, msg: 'the request failed', err }));
    expect(shown).toMatch(/^\[12:34:56\] ERROR: the request failed/);
    expect(shown).toMatch(/\n +Error: no\n +at x\n +"hint": "Do\."\n/);
  });

  describe.each([false, true])('with colours: %s', (colorize) => {
    const clear = '\u001b[2J\u009b2J\u202e\r\n[12:00:00] INFO: forged';
    const out: string[] = [];
    const terminal = createTerminalLine(colorize);
    const log = createLog('trace', { write: (json) => void out.push(terminal(json)) });
    log.info({
      method: 'GET',
      path: clear,
      status: 404,
      ms: 1,
      reason: clear,
      code: clear,
      requestId: clear,
    });
    log.info({ given: clear, deep: { down: [clear] } }, clear);
    log.error({ err: Object.assign(new Error(clear), { code: clear, statement: clear }) }, 'failed');
    log.info({ token: 'hunter2', said: 'eyJhbGciOiJFUzUxMiJ9.eyJzY29wZXMiOltdfQ.c2ln' }, '4111111111111111');

    it('has no control characters of others, which would move the cursor, colour or hide text', () => {
      // oxlint-disable-next-line no-control-regex -- these are what must not be there
      const own = colorize ? /\u001b\[(?:3[1236]|39|90)m/g : /(?!)/g;
      // oxlint-disable-next-line no-control-regex -- these are what must not be there
      expect(out.join('').replace(own, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(out[0]).toContain(String.raw`\u001b[2J`);
    });

    it('is one line; those of a stack are indented, so that nobody can forge one', () => {
      const lines = out.join('').trimEnd().split('\n');
      expect(lines.filter((line) => !line.startsWith(' '))).toHaveLength(4);
      for (const line of lines) expect(line).toMatch(/^(?:\[| {4})/);
    });

    it('has no secrets', () => {
      expect(out).toHaveLength(4);
      expect(out[3]).toContain('[number]');
      expect(out.join('')).not.toMatch(/hunter2|eyJ|4111/);
    });
  });

  it('what is no line of the log stays as it is', () => {
    expect(createTerminalLine(true)('(node:1) Warning\n')).toBe('(node:1) Warning\n');
  });
});
