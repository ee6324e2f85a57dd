// Card numbers, security codes, gift cards, webhook secrets, passwords, tokens and keys must not be in the files of the
// database, in the log at level trace, or in error answers.
import { createPrivateKey, randomBytes, randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signToken } from '../../server/kit/access/token.ts';
import { runningUrl } from '../../server/kit/database/embedded/index.ts';
import { passesLuhn } from '../../server/kit/rules/card-numbers.ts';
import { showsCode } from '../support/digits.ts';
import { keyIn } from '../support/keys.ts';
import { createPayments, startServer, type Server } from '../support/processes.ts';

let dataDir: string;
let server: Server | undefined;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'payments-rest-'));
  await chmod(dataDir, 0o755);
});
afterAll(async () => {
  await server?.kill();
  await rm(dataDir, { recursive: true, force: true });
});

interface Request extends Omit<RequestInit, 'headers'> {
  bearer?: string;
  headers?: Record<string, string>;
}

/** A number with a valid check digit that is not a documented test number. */
function cardNumber(prefix: string, length = 16): string {
  for (;;) {
    let number = prefix;
    while (number.length < length) number += String(randomInt(10));
    if (passesLuhn(number)) return number;
  }
}

/** A value in plain text, hex and base64, at every base64 alignment. */
function spellings(value: string | Buffer): string[] {
  const bytes = Buffer.from(value as string, 'latin1');
  const hex = bytes.toString('hex');
  const inside = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((before * 8) / 6), -1);
  });
  const url = inside.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [bytes.toString('latin1'), hex, hex.toUpperCase(), ...inside, ...url];
}

/** Searches for all of them in one pass, because there are hundreds of encodings and many megabytes. */
function createSearch(values: Iterable<string | Buffer>): (text: Buffer) => string[] {
  const patterns = [...new Set([...values].flatMap(spellings))].map((text) => Buffer.from(text, 'latin1'));
  const begins = new Uint8Array(65_536);
  const byStart = new Map<number, Buffer[]>();
  for (const pattern of patterns) {
    const start = pattern.readUInt16BE(0);
    begins[start] = 1;
    byStart.set(start, [...(byStart.get(start) ?? []), pattern]);
  }
  return (text) => {
    const found: string[] = [];
    for (let at = 0; at < text.length - 1; at += 1) {
      const start = ((text[at] ?? 0) << 8) | (text[at + 1] ?? 0);
      if (begins[start] === 0) continue;
      for (const pattern of byStart.get(start) ?? [])
        if (text.compare(pattern, 0, pattern.length, at, Math.min(at + pattern.length, text.length)) === 0)
          found.push(pattern.toString('latin1'));
    }
    return found;
  };
}

it('no secret is in the files of the database, in the log or in an error answer', async () => {
  server = await startServer({ DATA_DIR: dataDir, LOG_LEVEL: 'trace' });
  const { url } = server;
  const key = keyIn(dataDir);
  const token = signToken(key, ['*.read', '*.write'], 3600);
  const embed = signToken(key, ['embed'], 3600);
  const control = `findme-${randomBytes(8).toString('hex')}`;
  const code = '8642';
  const secrets = new Set<string | Buffer>([
    token,
    embed,
    token.split('.')[2] ?? '',
    embed.split('.')[2] ?? '',
  ]);
  const refusals: string[] = [];
  const secret = (text: string) => {
    secrets.add(text);
    return text;
  };
  // Error answers contain the names of unknown properties, so that callers can find them.
  const names = new Set<string>();
  const echoed = (name: string) => {
    names.add(name);
    return secret(name);
  };
  const send = async (path: string, init: RequestInit & { bearer?: string } = {}) => {
    const { bearer = token, ...rest } = init;
    const response = await fetch(url + path, {
      ...rest,
      headers: {
        Authorization: `Bearer ${bearer}`,
        'Content-Type': 'application/json',
        ...(rest.headers as Record<string, string> | undefined),
      },
    });
    const text = await response.text();
    if (response.status >= 400) refusals.push(text + JSON.stringify([...response.headers]));
    return { status: response.status, text, body: JSON.parse(text) as Record<string, never> };
  };
  const post = (path: string, body: unknown, more: Request = {}) =>
    send(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...more });

  // Cards: succeeded, failed, waiting for approval; and every kind of refused request with a number in it.
  const card = (more: object = {}) => ({
    method: 'card',
    number: secret(cardNumber('4929')),
    expiration_date: '12/39',
    security_code: code,
    ...more,
  });
  const stored = await post('/payment-methods', card({ external_identifier: control }));
  expect(stored.status).toBe(201);
  const bad = secret(cardNumber('5412')).replace(/.$/, (last) => String((Number(last) + 1) % 10));
  secret(bad);
  const answers = [
    await post('/payment-methods', card({ number: bad })),
    await post(
      '/payment-methods',
      card({ number: secret(cardNumber('4929', 19)), expiration_date: '01/20' }),
    ),
    await post('/payment-methods', card({ external_identifier: control })),
    await post('/payment-methods', card({ buyer_external_identifier: 'nobody' })),
    await post(
      '/payment-methods',
      card({ number: `${secret(cardNumber('4929'))}x`, security_code: `${code}${code}` }),
    ),
    await post('/payment-methods', card({ [echoed(cardNumber('4929'))]: 1 })),
    await post('/payment-methods', card({ number: Number(secret(cardNumber('4929', 15))) })),
    await post('/payment-methods', card({ expiration_date: secret(cardNumber('4929')) })),
    await post('/payment-methods', `{"number": "${secret(cardNumber('4929'))}", `),
    await post('/payment-methods', card(), { headers: { 'Content-Type': 'text/plain' } }),
    await post('/payment-methods', card({ external_identifier: 'x'.repeat(120_000) })),
    await post('/payment-methods', card(), { bearer: secret(`${token.slice(0, -6)}AAAAAA`) }),
    await post('/payment-methods', card(), {
      headers: { 'X-Service-Merchant-Account-ID': secret(cardNumber('4929')) },
    }),
    await post('/payment-methods', card(), { headers: { 'Early-Data': '1' } }),
    await send(`/transactions?search=${secret(cardNumber('4929'))}`),
    await send(`/transactions?${echoed(cardNumber('4929'))}=1&cursor=${secret(cardNumber('4929'))}`),
    await send(`/${secret(cardNumber('4929'))}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([
    ...[201, 201, 409, 404, 400, 400, 400, 400, 400, 400, 400, 401, 404, 425, 200, 400, 404],
  ]);

  // Gift cards: by number, stored, and with a provider that fails.
  const gift = (pin = secret(`pin-${randomBytes(6).toString('hex')}`)) => ({
    number: secret(
      `9999${String(randomInt(1e8)).padStart(8, '0')}${String(randomInt(1e4)).padStart(4, '0')}`,
    ),
    pin,
  });
  const given = gift();
  const balances = [
    await post('/gift-cards/balances', { items: [gift(), gift()] }, { bearer: embed }),
    await post('/gift-cards/balances', { items: [gift('9502')] }),
    await post('/gift-cards/balances', { items: [{ ...gift(), unicorn: 1 }] }),
    await post('/gift-cards/balances', {
      items: [{ number: `${gift().number}x`, pin: secret(`pin-${control}-wrong`) }],
    }),
  ];
  expect(balances.map(({ status }) => status)).toEqual([200, 502, 400, 400]);
  const payments = createPayments({ DATA_DIR: dataDir });
  const kept = await payments(['gift-cards', 'create'], `${given.number} ${given.pin}\n`);
  expect(kept.status).toBe(0);

  // Webhooks: the service creates the secret, the caller sends the password.
  const password = () => secret(`pass-${randomBytes(9).toString('hex')}`);
  const subscription = (more: object = {}) => ({
    url: 'http://127.0.0.1:9/hook',
    authentication: { kind: 'basic', username: 'u', password: password(), ...more },
  });
  const made = await post('/webhook-subscriptions', subscription());
  expect(made.status).toBe(201);
  const whsec = String(made.body.secret);
  secret(whsec);
  secrets.add(whsec.slice(6));
  secrets.add(Buffer.from(whsec.slice(6), 'base64'));
  expect((await post('/webhook-subscriptions', subscription({ kind: password() }))).status).toBe(400);
  expect((await post('/webhook-subscriptions', subscription({ unicorn: password() }))).status).toBe(400);
  // An event is queued and a delivery is attempted.
  expect((await post('/payment-methods', card())).status).toBe(201);
  await send('/webhook-subscriptions');

  // Keys: of the sandbox, of a key pair that an operator created, and the encryption keys.
  const pair = await payments(['keys', 'create', '--name', control]);
  const pem = (JSON.parse(pair.stdout) as { private_key: string }).private_key;
  for (const text of [pem, readFileSync(join(dataDir, 'sandbox-key.pem'), 'utf8')]) {
    const scalar = Buffer.from(createPrivateKey(text).export({ format: 'jwk' }).d ?? '', 'base64url');
    secrets.add(scalar);
    for (const line of text.split('\n').slice(1, 3)) secrets.add(line);
  }
  const own = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as Record<string, string>;
  for (const text of Object.values(own)) secrets.add(Buffer.from(text, 'base64'));

  const client = new pg.Client({ connectionString: (await runningUrl(dataDir)) ?? '' });
  await client.connect();
  await client.query('checkpoint');
  // Too short to search for in files, where such digits occur by chance.
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') and tablename not like 'transactions%'`,
  );
  const asWord = `(^|[^-0-9a-zA-Z:.])${code}($|[^-0-9a-zA-Z:.])`;
  for (const { name } of tables) {
    const { rows } = await client.query(`select t::text as row from ${name} t where t::text ~ $1`, [asWord]);
    expect(rows, name).toEqual([]);
  }
  await client.end();
  const log = () => server?.child.output() ?? '';
  const files = await filesIn(join(dataDir, 'postgres'));
  expect(files.some((file) => file.includes('pg_wal/0'))).toBe(true);
  const search = createSearch(secrets);
  const leaks = (text: Buffer, where: string) => search(text).map((found) => `${where}: ${found}`);
  let seen = 0;
  const found: string[] = [];
  for (const file of files) {
    const bytes = readFileSync(file);
    if (bytes.includes(control)) seen += 1;
    found.push(...leaks(bytes, file));
  }
  await server.stop();
  found.push(
    ...leaks(Buffer.from(log()), 'log'),
    ...leaks(Buffer.from(refusals.join('\n')), 'answer').filter((leak) => !names.has(leak.slice(8))),
  );
  expect(found).toEqual([]);
  // Reasons of refusals name the property, never its value.
  expect(log()).not.toMatch(new RegExp(`security_code\\\\*"\\s*:|"${code}"`));
  expect(showsCode(refusals.join(''), code)).toBe(false);
  // Control: values that are not secret are found, in the table and in the write-ahead log.
  expect(seen).toBeGreaterThanOrEqual(2);
  expect(log()).toContain('"path":"/payment-methods"');
  expect(refusals.length).toBeGreaterThan(15);
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => existsSync(file));
}
