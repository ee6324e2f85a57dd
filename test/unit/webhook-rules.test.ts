import { readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { events } from '../../generated/operations.ts';
import { pascal } from '../../scripts/new/names.ts';
import {
  checkUrl,
  createGuardedLookup,
  isAllowedAddress,
  RefusedAddress,
} from '../../server/events/guard.ts';
import { nextWait, readRetryAfter, waits } from '../../server/events/schedule.ts';
import { createSend, sendOptions } from '../../server/events/send.ts';

it.each(events)('%s is announced', (event) => {
  const folder = 'server/resources';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const changes = files.filter((file) => file.endsWith('changes.ts'));
  const code = changes.map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  const resource = pascal(event.replace(/\..*/, ''));
  const advice = `Announce it in the change of ${folder}/ that causes it: announce(unit, '${event}', present${resource}). See docs/guides/backend-engineer.md, "An event".`;
  expect(
    code.some((text) => text.includes('announce(') && text.includes(`'${event}'`)),
    advice,
  ).toBe(true);
});

describe('where a delivery may go', () => {
  const production = { allowLoopback: false, allowHttp: false };
  const sandbox = { allowLoopback: true, allowHttp: true };

  const private_ = [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.100.100.200',
    'fc00::1',
    'fd00:ec2::254',
    '::ffff:10.0.0.1',
    '::ffff:c0a8:101',
    '::10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ];
  const never = [
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '0.0.0.0',
    '0.1.2.3',
    '::',
    '224.0.0.1',
    '239.255.255.255',
    'ff02::1',
    '255.255.255.255',
    '240.0.0.1',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '198.18.0.1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '168.63.129.16',
    'not an address',
    '',
  ];
  const loopback = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];

  it.each([...private_, ...never])('%s is refused everywhere', (address) => {
    expect(isAllowedAddress(address, production)).toBe(false);
    expect(isAllowedAddress(address, sandbox)).toBe(false);
  });

  it.each(loopback)('%s is for the sandbox only', (address) => {
    expect(isAllowedAddress(address, production)).toBe(false);
    expect(isAllowedAddress(address, sandbox)).toBe(true);
  });

  // Not only the check: `send` is called for each address, as the worker does.
  const attempt = (url: string, { environment }: { environment: 'sandbox' | 'production' }) =>
    createSend(sendOptions({ environment })).send(
      { account: 'default', subscription: 'one', url, body: '{}', headers: {}, login: undefined },
      new AbortController().signal,
    );
  const inUrl = (address: string) => (address.includes(':') ? `[${address}]` : address);
  const real = [...private_, ...never].filter((address) => isIP(address) > 0 && !address.includes('%'));

  it.each(real)('no delivery to %s is attempted', async (address) => {
    for (const environment of ['sandbox', 'production'] as const)
      await expect(attempt(`https://${inUrl(address)}/`, { environment })).rejects.toThrow(RefusedAddress);
  });

  it.each([...loopback.map(inUrl), 'localhost', '2130706433', '0x7f.1', '017700000001', '127.1'])(
    'production attempts no delivery to %s',
    async (host) => {
      await expect(attempt(`https://${host}:9/`, { environment: 'production' })).rejects.toThrow(
        RefusedAddress,
      );
      await expect(attempt(`https://${host}:9/`, { environment: 'sandbox' })).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
    },
  );

  it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
    '%s is fine',
    (address) => {
      expect(isAllowedAddress(address, production)).toBe(true);
    },
  );

  it.each([
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://0/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://169.254.169.254/latest',
    'https://[fe80::1]/',
    'https://10.0.0.1:8443/',
    'http://1.1.1.1/',
    'ftp://1.1.1.1/',
  ])('production refuses %s', (url) => {
    expect(() => {
      checkUrl(new URL(url), production);
    }).toThrow(RefusedAddress);
  });

  it.each([
    'http://169.254.169.254/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://0/',
    'http://192.168.0.1/',
    'http://[fd00:ec2::254]/',
  ])('the sandbox refuses %s', (url) => {
    expect(() => {
      checkUrl(new URL(url), sandbox);
    }).toThrow(RefusedAddress);
  });

  it('a host name is checked by the address that it resolves to when it is connected', async () => {
    const answers = ['93.184.216.34', '10.0.0.1'];
    // Another answer each time, as in DNS rebinding.
    const resolve = () => Promise.resolve([{ address: answers.shift() ?? '', family: 4 as const }]);
    const lookup = createGuardedLookup(resolve, { allowLoopback: true });
    const connect = () =>
      new Promise((done, failed) => {
        lookup('shop.example', { all: true }, (error, addresses) => {
          if (error) failed(error);
          else done(addresses);
        });
      });
    expect(await connect()).toEqual([{ address: '93.184.216.34', family: 4 }]);
    await expect(connect()).rejects.toThrow(RefusedAddress);
  });
});

describe('when a delivery is retried', () => {
  it('follows the schedule, plus or minus 10 %', () => {
    const hour = 3600;
    expect(waits).toEqual([0, 5, 300, 1800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]);
    for (let attempts = 1; attempts < waits.length; attempts += 1) {
      const wait = waits[attempts] ?? 0;
      expect(nextWait(attempts, undefined, 0)).toBeCloseTo(wait * 0.9);
      expect(nextWait(attempts, undefined, 1)).toBeCloseTo(wait * 1.1);
    }
    expect(nextWait(waits.length, undefined, 0.5)).toBeUndefined();
  });

  it('waits as long as the receiver asks, but never shorter than the schedule and never longer than a day', () => {
    expect(nextWait(1, 100, 0.5)).toBe(100);
    expect(nextWait(2, 1, 0.5)).toBeCloseTo(300);
    expect(nextWait(1, 10_000_000, 0.5)).toBe(86_400);
  });

  it('reads Retry-After as seconds or as a date', () => {
    const now = new Date('2026-11-15T10:00:00Z');
    expect(readRetryAfter('120', now)).toBe(120);
    expect(readRetryAfter('Sun, 15 Nov 2026 10:01:00 GMT', now)).toBe(60);
    expect(readRetryAfter('Sun, 15 Nov 2026 09:00:00 GMT', now)).toBe(0);
    expect(readRetryAfter('soon', now)).toBeUndefined();
    expect(readRetryAfter(undefined, now)).toBeUndefined();
  });
});
