// Runs the code of the introduction unchanged, because readers paste it.
import { spawnSync } from 'node:child_process';
import { createHmac, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import { parseContract } from '../../scripts/docs/contract.ts';
import { switchOffAfterMilliseconds, waits } from '../../server/events/schedule.ts';
import { subscriptionLimits } from '../../server/resources/webhook-subscriptions/rules.ts';
import { loadContract } from '../../server/contract/load.ts';
import { thumbprint } from '../../server/resources/api-key-pairs/rules.ts';
import { run } from '../support/processes.ts';

const runs = (program: string, code: string) => spawnSync(program, ['-c', code]).status === 0;
// Debian's has the packages of Debian; another one may be first in the path.
const withJwt = ['python3', '/usr/bin/python3'].find((program) => runs(program, 'import cryptography, jwt'));
const python3 = withJwt ?? 'python3';
const hasPython = (code: string) => runs(python3, code);
const python = 'import sys; assert sys.version_info >= (3, 9)';

let text: string;
let folder: string;

beforeAll(async () => {
  text = await readFile(join(root, 'openapi/introduction.md'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'introduction-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const snippet = (language: string, having: string) => {
  const blocks = [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const found = blocks.find(([, name, code]) => name === language && code?.includes(having));
  return found?.[2] ?? '';
};

describe('the introduction', () => {
  it.for([
    { language: 'js', having: 'jsonwebtoken', command: process.execPath, file: 'token.mjs', canRun: true },
    {
      language: 'python',
      having: 'jwt',
      command: python3,
      file: 'sign.py',
      canRun: withJwt !== undefined,
    },
  ])('signs a token in $language with the claims it shows', async (sample, { skip }) => {
    const { language, having, command, file, canRun } = sample;
    const code = snippet(language, having);
    expect(code).not.toBe('');
    skip(!canRun, 'PyJWT is not installed');
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
    await mkdir(join(folder, '.data'), { recursive: true });
    await writeFile(
      join(folder, '.data/sandbox-key.pem'),
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    await writeFile(join(folder, file), code);
    const { output, status } = await run(command, [file], { cwd: folder });
    expect(status, output).toBe(0);
    const { header, payload } = jwt.verify(output.trim(), publicKey, {
      algorithms: ['ES512'],
      complete: true,
    });
    expect(header).toMatchObject({
      alg: 'ES512',
      typ: 'JWT',
      kid: thumbprint(privateKey),
    });
    expect(payload).toMatchObject({ scopes: ['transactions.read'] });
    expect(Object.keys(header).sort()).toEqual(
      Object.keys(JSON.parse(snippet('json', '"kid"')) as object).sort(),
    );
    expect(Object.keys(payload).sort()).toEqual(
      Object.keys(JSON.parse(snippet('json', '"scopes"')) as object).sort(),
    );
  });

  it('lists the attempts of a delivery as the service makes them', () => {
    const seconds = (time: string) =>
      [...time.matchAll(/(\d+) ([hms])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * { h: 3600, m: 60, s: 1 }[unit as 'h'],
        0,
      );
    const rows = [...text.matchAll(/^\| (\d+) +\| ([^|]+)\| ([^|]+)\|$/gm)].map(([, ...cells]) => cells);
    expect(rows.map(([attempt]) => Number(attempt))).toEqual(waits.map((_, index) => index + 1));
    expect(rows.map(([, wait = '']) => seconds(wait))).toEqual(waits);
    let sum = 0;
    // From minutes on, the five seconds of the second attempt are left out.
    for (const [index, [, , total = '']] of rows.entries()) {
      sum += waits[index] ?? 0;
      expect(sum - seconds(total)).toBe(index < 2 ? 0 : 5);
    }
    expect(switchOffAfterMilliseconds).toBe(5 * 24 * 3_600_000);
    expect(text).toContain('after five days in\nwhich every attempt failed');
  });

  const key = randomBytes(24);
  const id = randomUUID();
  const now = Math.floor(Date.now() / 1000);
  const sign = (timestamp: number, by = key) =>
    `v1,${createHmac('sha256', by).update(`${id}.${timestamp}.{}`).digest('base64')}`;
  const headers = (signature: string, timestamp = now) => ({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });
  const { 'webhook-id': _id, ...withoutId } = headers(sign(now));
  const { 'webhook-timestamp': _timestamp, ...withoutTimestamp } = headers(sign(now));
  const { 'webhook-signature': _signature, ...withoutSignature } = headers(sign(now));
  const deliveries: [name: string, headers: object, body: string, isGenuine: boolean][] = [
    ['the right one', headers(sign(now)), '{}', true],
    ['one of two', headers(`${sign(now, randomBytes(24))} ${sign(now)}`), '{}', true],
    ['of another body', headers(sign(now)), '{"a":1}', false],
    ['forged', headers(sign(now, randomBytes(24))), '{}', false],
    ['no ASCII', headers('v1,é'), '{}', false],
    ['old', headers(sign(now - 400), now - 400), '{}', false],
    ['of no time', { ...headers(sign(now)), 'webhook-timestamp': 'now' }, '{}', false],
    // A request without the headers is refused, instead of failing.
    ['without an ID', withoutId, '{}', false],
    ['without a time', withoutTimestamp, '{}', false],
    ['without a signature', withoutSignature, '{}', false],
  ];
  const secret = `whsec_${key.toString('base64')}`;
  const verdicts = deliveries.map(([name, , , isGenuine]) => [name, isGenuine]);

  it('checks a webhook signature in JavaScript', async () => {
    await writeFile(join(folder, 'verify.mjs'), snippet('js', 'timingSafeEqual'));
    const { isGenuine } = (await import(pathToFileURL(join(folder, 'verify.mjs')).href)) as {
      isGenuine: (headers: object, body: string, secret: string) => boolean;
    };
    expect(deliveries.map(([name, given, body]) => [name, isGenuine(given, body, secret)])).toEqual(verdicts);
  });

  it.skipIf(!hasPython(python))('checks a webhook signature in Python', async () => {
    await writeFile(
      join(folder, 'verify.py'),
      `${snippet('python', 'hmac')}
import json, sys
secret, deliveries = json.loads(sys.argv[1])
print(json.dumps([[name, is_genuine(headers, body.encode(), secret)] for name, headers, body, _ in deliveries]))
`,
    );
    const given = JSON.stringify([secret, deliveries]);
    const { output, status } = await run(python3, ['verify.py', given], { cwd: folder });
    expect(status, output).toBe(0);
    expect(JSON.parse(output)).toEqual(verdicts);
  });

  it('gets its tables of scopes, errors and events from the contract', async () => {
    const { info } = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
    expect(info.description).not.toContain('<!-- table');
    for (const row of [
      '| [Check gift card balances](#operation/checkGiftCardBalances) | `gift-cards.read` or `embed` |',
      '| 405 | `method_not_allowed` | The path exists, but not with this HTTP method. | `Allow` names those it has. |',
      '| 422 | (another shape) | The request matches this contract and still cannot be processed. | `detail` says why;',
      '| `transaction.updated` | Sent after a transaction changed: a new status, or new amounts. |',
    ])
      expect(info.description).toContain(`\n${row}`);
  });

  it('and each value of an enumeration has a row in the table of its description', () => {
    const { schemas } = loadContract().document.components;
    const lacking = Object.entries(
      schemas as Record<string, { enum?: string[]; description?: string }>,
    ).flatMap(([name, { enum: values = [], description = '' }]) =>
      description.includes('\n| `')
        ? values.filter((value) => !description.includes(`\n| \`${value}\` `)).map((value) => [name, value])
        : [],
    );
    expect(lacking).toEqual([]);
  });

  it('explains each kind of 422 that the contract has an example of, and shows the example of a 409', async () => {
    const { components } = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
    const examples = Object.values(components?.examples ?? {}).map(({ value }) => value);
    const kinds = examples.flatMap((value) => (value as { detail?: { type: string }[] }).detail ?? []);
    expect(kinds.length).toBeGreaterThan(3);
    for (const { type } of kinds) expect(text).toContain(`\n| \`${type}\` `);
    expect(examples).toContainEqual(JSON.parse(snippet('json', '"duplicate_record"')));
    const { active, withInactive } = subscriptionLimits;
    expect(text).toContain(`${active} active webhook subscriptions, or ${withInactive} with inactive ones`);
  });

  it('shows amounts with the decimals of their currency, as its table has them', async () => {
    await writeFile(join(folder, 'amounts.mjs'), snippet('js', 'Intl.NumberFormat'));
    const { show } = (await import(pathToFileURL(join(folder, 'amounts.mjs')).href)) as {
      show: (amount: number, currency: string) => string;
    };
    const rows = [...text.matchAll(/^\| ([A-Z]{3}(?:, [A-Z]{3})+) +\| (\d) +\| [A-Z]{3} (\S+) +\|$/gm)];
    expect(rows.map(([, , decimals]) => decimals)).toEqual(['2', '2', '0', '3']);
    // For these two Intl has fewer decimals than ISO 4217.
    expect(rows.flatMap(([, currencies = '']) => currencies.split(', '))).toEqual(
      expect.arrayContaining(['HUF', 'IQD']),
    );
    for (const [, currencies = '', , shown] of rows)
      for (const currency of currencies.split(', '))
        expect(show(1299, currency).replace(/\s/, ' ')).toBe(`${currency} ${shown}`);
  });
});
