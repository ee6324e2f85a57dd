// Runs the code of the introduction unchanged, because readers paste it.
import { createHmac, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import { switchOffAfterMilliseconds, waits } from '../../server/webhooks/schedule.ts';
import { run } from '../support/processes.ts';

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
  it('signs a token that verifies with the public key and has the claims it shows', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
    await mkdir(join(folder, '.data'));
    await writeFile(
      join(folder, '.data/sandbox-key.pem'),
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    await writeFile(join(folder, 'token.mjs'), snippet('js', 'jsonwebtoken'));
    const { output, status } = await run(process.execPath, ['token.mjs'], { cwd: folder });
    expect(status, output).toBe(0);
    const { header, payload } = jwt.verify(output.trim(), publicKey, {
      algorithms: ['ES512'],
      complete: true,
    });
    expect(header).toMatchObject({
      alg: 'ES512',
      typ: 'JWT',
      kid: expect.stringMatching(/^[\w-]{43}$/) as string,
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

  it('checks a webhook signature: the right one, one of two, a forged one, an old one', async () => {
    await writeFile(join(folder, 'verify.mjs'), snippet('js', 'timingSafeEqual'));
    const { isGenuine } = (await import(pathToFileURL(join(folder, 'verify.mjs')).href)) as {
      isGenuine: (headers: object, body: string, secret: string) => boolean;
    };
    const key = randomBytes(24);
    const secret = `whsec_${key.toString('base64')}`;
    const sign = (id: string, timestamp: number, body: string, by: Buffer) =>
      `v1,${createHmac('sha256', by).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    const id = randomUUID();
    const now = Math.floor(Date.now() / 1000);
    const headers = (timestamp: number, signature: string) => ({
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    });
    expect(isGenuine(headers(now, sign(id, now, '{}', key)), '{}', secret)).toBe(true);
    expect(
      isGenuine(
        headers(now, `${sign(id, now, '{}', randomBytes(24))} ${sign(id, now, '{}', key)}`),
        '{}',
        secret,
      ),
    ).toBe(true);
    expect(isGenuine(headers(now, sign(id, now, '{}', key)), '{"a":1}', secret)).toBe(false);
    expect(isGenuine(headers(now, sign(id, now, '{}', randomBytes(24))), '{}', secret)).toBe(false);
    expect(isGenuine(headers(now - 301, sign(id, now - 301, '{}', key)), '{}', secret)).toBe(false);
    // A request without the headers is refused, instead of failing.
    const complete = headers(now, sign(id, now, '{}', key));
    for (const missing of Object.keys(complete))
      expect(isGenuine({ ...complete, [missing]: undefined }, '{}', secret), missing).toBe(false);
  });
});
