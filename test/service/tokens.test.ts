// Tokens at the service: whose key, and that all refusals get the same answer, which does not tell why. Which headers and claims
// are refused is in test/unit/token.test.ts.
import {
  createHmac,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  sign as signBytes,
  type KeyObject,
} from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thumbprint } from '../../server/kit/access/token.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const now = () => Math.floor(Date.now() / 1000);
const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const scopes = ['card-scheme-definitions.read'];
const status = async (token: string, headers: Record<string, string> = {}) =>
  (await service.call('GET', '/card-scheme-definitions', { token, headers })).status;

/** Signs any header and claims with ES512. */
function forge(key: KeyObject, header: object, payload: unknown): string {
  const head = base64url({ alg: 'ES512', typ: 'JWT', kid: thumbprint(key), ...header });
  const body = base64url(payload);
  const signature = signBytes('sha512', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' });
  return `${head}.${body}.${signature.toString('base64url')}`;
}

const claims = (extra: object = {}) => ({ scopes, exp: now() + 600, iat: now(), ...extra });

describe('valid tokens', () => {
  it.each<[string, () => object]>([
    ['with iss, jti and nbf', () => ({ iss: 'shop', jti: 'x', nbf: now() })],
    ['used again, with the same jti', () => ({ jti: 'x' })],
    ['with a wildcard', () => ({ scopes: ['*.read'] })],
  ])('%s', async (_name, extra) => {
    expect(await status(forge(service.key, {}, claims(extra())))).toBe(200);
  });
});

describe('forged and broken tokens are 401', () => {
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey;
  const kid = () => thumbprint(service.key);
  const publicPem = () => createPublicKey(service.key).export({ type: 'spki', format: 'pem' }) as string;
  const unsigned = (header: object) =>
    `${base64url({ typ: 'JWT', kid: kid(), ...header })}.${base64url(claims())}`;

  const table: [string, () => string][] = [
    ['alg none without a signature', () => `${unsigned({ alg: 'none' })}.`],
    ['alg none with a signature', () => `${unsigned({ alg: 'none' })}.${base64url('x')}`],
    ['alg None', () => `${unsigned({ alg: 'None' })}.${base64url('x')}`],
    [
      'HMAC with the public key as the secret',
      () => {
        const input = unsigned({ alg: 'HS512' });
        return `${input}.${createHmac('sha512', publicPem()).update(input).digest('base64url')}`;
      },
    ],
    ['a foreign key with a known kid', () => forge(foreign, { kid: kid() }, claims())],
    ['a foreign key with its own kid', () => forge(foreign, {}, claims())],
    [
      'an embedded jwk',
      () => forge(foreign, { kid: kid(), jwk: createPublicKey(foreign).export({ format: 'jwk' }) }, claims()),
    ],
    [
      'an embedded jwk and no kid',
      () =>
        forge(foreign, { kid: undefined, jwk: createPublicKey(foreign).export({ format: 'jwk' }) }, claims()),
    ],
    ['a jku', () => forge(foreign, { kid: kid(), jku: 'http://127.0.0.1:1/keys' }, claims())],
    ['kid injection, SQL', () => forge(service.key, { kid: `' or 1=1 --` }, claims())],
    ['kid injection, a path', () => forge(service.key, { kid: '../../etc/passwd' }, claims())],
    ['kid with U+0000', () => forge(service.key, { kid: `${kid()}\u0000` }, claims())],
    ['kid that is no text', () => forge(service.key, { kid: { toString: kid() } }, claims())],
    ['no kid', () => forge(service.key, { kid: undefined }, claims())],
    [
      'a DER signature instead of the two numbers',
      () => {
        const input = unsigned({ alg: 'ES512' });
        return `${input}.${createSign('sha512').update(input).sign(service.key).toString('base64url')}`;
      },
    ],
    ['expired', () => forge(service.key, {}, claims({ iat: now() - 600, exp: now() - 61 }))],
    ['a changed payload', () => service.token(...scopes).replace(/\..*\./, `.${base64url(claims())}.`)],
    ['an empty signature', () => service.token(...scopes).replace(/[^.]+$/, '')],
    ['half a signature', () => service.token(...scopes).slice(0, -80)],
    ['nothing', () => '.'],
  ];

  it.each(table)('%s', async (_name, make) => {
    expect(await status(make())).toBe(401);
  });

  it('all of them get the same body', async () => {
    const bodies = await Promise.all(
      table
        .slice(0, 12)
        .map(async ([, make]) => (await service.call('GET', '/transactions', { token: make() })).text),
    );
    expect(new Set(bodies).size).toBe(1);
  });
});

it('a last_used_at that cannot be written is logged, and a GET is answered', async () => {
  await using broken = await startTestService();
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before update on api_key_pairs for each row execute function refuse()`.execute(
    broken.service.database.db,
  );
  const { status } = await broken.call('GET', '/api-key-pairs', { token: broken.token('*.read') });
  expect(status).toBe(200);
  const logged = broken.logs.filter((line) => line.includes('last_used_at was not written'));
  expect(logged.map((line) => (JSON.parse(line) as { level: number }).level)).toEqual([40]);
});
