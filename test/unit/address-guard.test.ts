// Every range that deliveries must not reach, from its first address to its last, and not one address more. The ranges are
// those of the IANA registries of special-purpose addresses (RFC 6890) and of cloud providers, written as in the registries.
import { BlockList, isIPv4 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AttemptFailure } from '../../server/kit/events/failure.ts';
import { createGuardedLookup, isAllowedAddress, checkUrl } from '../../server/kit/events/guard.ts';
import type { Address } from '../../server/kit/events/resolve.ts';
import { createSend, sendOptions } from '../../server/kit/events/send.ts';

const ranges: [why: string, first: string, last: string][] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255'],
  ['shared by carriers', '100.64.0.0', '100.127.255.255'],
  ['metadata of Azure', '168.63.129.16', '168.63.129.16'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['documentation', '192.0.2.0', '192.0.2.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private', '192.168.0.0', '192.168.255.255'],
  ['benchmarking', '198.18.0.0', '198.19.255.255'],
  ['documentation', '198.51.100.0', '198.51.100.255'],
  ['documentation', '203.0.113.0', '203.0.113.255'],
  ['multicast and reserved', '224.0.0.0', '255.255.255.255'],
  ['unspecified, and IPv4-compatible', '::', '::ffff:ffff'],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['translation', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['local translation', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['protocol assignments', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local and site-local', 'fe80::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];
const loopback: [first: string, last: string][] = [
  ['127.0.0.0', '127.255.255.255'],
  ['::1', '::1'],
];

const family = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');
const production = { allowLoopback: false };
const sandbox = { allowLoopback: true };

/** The address before or after, undefined beyond the ends. */
function neighbour(address: string, step: 1n | -1n): string | undefined {
  const [bits, width, join] = isIPv4(address) ? ([8n, 4, '.'] as const) : ([16n, 8, ':'] as const);
  const parts = isIPv4(address) ? address.split('.').map(BigInt) : groups(address);
  const number = parts.reduce((sum, part) => (sum << bits) | part, 0n) + step;
  if (number < 0n || number >> (bits * BigInt(width)) > 0n) return undefined;
  const digits = Array.from({ length: width }, (_, place) => {
    const part = (number >> (bits * BigInt(width - 1 - place))) & ((1n << bits) - 1n);
    return part.toString(bits === 8n ? 10 : 16);
  });
  return digits.join(join);
}

function groups(address: string): bigint[] {
  const [head = '', tail] = address.split('::');
  const read = (text: string) => (text === '' ? [] : text.split(':').map((part) => BigInt(`0x${part}`)));
  const [first, last] = [read(head), read(tail ?? '')];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0n), ...last];
}

const known = new BlockList();
for (const [first, last] of [...ranges.map(([, ...range]) => range), ...loopback])
  known.addRange(first, last, family(first));

describe('the address guard', () => {
  it.each(ranges)('%s: from %s to %s', (_why, first, last) => {
    for (const address of [first, last]) {
      expect(isAllowedAddress(address, production), address).toBe(false);
      expect(isAllowedAddress(address, sandbox), address).toBe(false);
    }
  });

  it.each(ranges)('%s: not more than %s to %s', (_why, first, last) => {
    for (const address of [neighbour(first, -1n), neighbour(last, 1n)]) {
      if (address === undefined || known.check(address, family(address))) continue;
      expect(isAllowedAddress(address, production), address).toBe(true);
    }
  });

  it.each(loopback)('%s to %s is for the sandbox only', (first, last) => {
    for (const address of [first, last]) {
      expect(isAllowedAddress(address, production), address).toBe(false);
      expect(isAllowedAddress(address, sandbox), address).toBe(true);
    }
    for (const address of [neighbour(first, -1n), neighbour(last, 1n)])
      if (address?.includes('.')) expect(isAllowedAddress(address, production), address).toBe(true);
  });

  it.each([
    '::10.1.2.3',
    '::ffff:10.1.2.3',
    '::ffff:0:10.1.2.3',
    '::ffff:a01:203',
    '::FFFF:0A01:0203',
    '::ffff:a:8080',
  ])('%s is the internal address in it', (address) => {
    expect(isAllowedAddress(address, production)).toBe(false);
  });

  it.each(['::ffff:8.9.10.11', '::ffff:808:0', '::ffff:a010:203'])(
    '%s is the public address in it',
    (address) => {
      expect(isAllowedAddress(address, production)).toBe(true);
    },
  );

  it('an address that only begins or ends like a mapped one is not', () => {
    expect(isAllowedAddress('::a01:203:1', production)).toBe(true);
    expect(isAllowedAddress('2606:4700::ffff:a01:203', production)).toBe(true);
    expect(isAllowedAddress('2606:4700::a01:203', production)).toBe(true);
  });

  it.each(['', 'shop.example', 'localhost', '1.2.3', '1.2.3.4.5', '2606:4700', '%eth0'])(
    '%j is no address, and refused',
    (text) => {
      expect(isAllowedAddress(text, sandbox)).toBe(false);
    },
  );

  it('a zone does not matter', () => {
    expect(isAllowedAddress('2606:4700::1111%eth0', production)).toBe(true);
    expect(isAllowedAddress('::1%lo', sandbox)).toBe(true);
  });
});

describe('the lookup of a connection', () => {
  const mixed: Address[] = [
    { address: '10.0.0.1', family: 4 },
    { address: '93.184.216.34', family: 4 },
    { address: 'fe80::1', family: 6 },
    { address: '2606:4700::1111', family: 6 },
  ];
  const look = (addresses: Promise<Address[]>, all: boolean) =>
    new Promise((done) => {
      const asked: string[] = [];
      const resolve = (hostname: string) => {
        asked.push(hostname);
        return addresses;
      };
      createGuardedLookup(resolve, production)('shop.example', { all }, (...answer) => {
        expect(asked).toEqual(['shop.example']);
        done(answer);
      });
    });

  it('gives the allowed addresses only: all, or the first', async () => {
    expect(await look(Promise.resolve(mixed), true)).toEqual([null, [mixed[1], mixed[3]]]);
    expect(await look(Promise.resolve(mixed), false)).toEqual([null, '93.184.216.34', 4]);
  });

  it('gives none when none is allowed', async () => {
    const refused = new AttemptFailure(
      'the host name resolves to internal addresses only, and webhooks are not delivered to internal addresses',
    );
    for (const all of [true, false])
      for (const addresses of [[], mixed.slice(0, 1)])
        expect(await look(Promise.resolve(addresses), all)).toEqual([refused, '', 0]);
  });

  it('asks again for each connection, so that a second answer is checked as well', async () => {
    const answers = ['93.184.216.34', '10.0.0.1'];
    const resolve = () => Promise.resolve([{ address: answers.shift() ?? '', family: 4 as const }]);
    const lookup = createGuardedLookup(resolve, production);
    const connect = () =>
      new Promise((done) => {
        lookup('shop.example', { all: true }, (...answer) => {
          done(answer);
        });
      });
    expect(await connect()).toEqual([null, [{ address: '93.184.216.34', family: 4 }]]);
    expect(await connect()).toEqual([expect.any(AttemptFailure), '', 0]);
  });

  it('passes on that the name could not be resolved', async () => {
    const failure = new Error('ENOTFOUND');
    expect(await look(Promise.reject(failure), true)).toEqual([failure, '', 0]);
  });
});

describe('the URL of a subscription', () => {
  const refusal = (url: string, options: { allowLoopback: boolean; allowHttp: boolean }) => {
    try {
      checkUrl(new URL(url), options);
      return undefined;
    } catch (error) {
      return error instanceof AttemptFailure ? error.message : String(error);
    }
  };
  const strict = { allowLoopback: false, allowHttp: false };
  const scheme = 'webhooks are delivered to https URLs only';
  const internal = 'webhooks are not delivered to internal addresses';

  it.each([
    ['https://shop.example/', strict, undefined],
    ['https://1.1.1.1/', strict, undefined],
    ['https://[2606:4700::1111]/', strict, undefined],
    ['http://shop.example/', strict, scheme],
    ['http://shop.example/', { ...strict, allowHttp: true }, undefined],
    ['ftp://shop.example/', { ...strict, allowHttp: true }, scheme],
    ['https://127.0.0.1/', strict, internal],
    ['https://[::1]/', strict, internal],
    ['https://2130706433/', strict, internal],
    ['https://0x7f000001/', strict, internal],
    ['https://0177.0.0.1/', strict, internal],
    ['https://127.1/', strict, internal],
    ['http://0/', { allowLoopback: true, allowHttp: true }, internal],
    ['http://169.254.169.254/latest', { allowLoopback: true, allowHttp: true }, internal],
    ['https://127.0.0.1/', { ...strict, allowLoopback: true }, undefined],
    ['https://[::1]/', { ...strict, allowLoopback: true }, undefined],
    ['https://10.0.0.1/', { ...strict, allowLoopback: true }, internal],
    ['https://[fc00::1]/', { ...strict, allowLoopback: true }, internal],
    ['https://localhost/', strict, internal],
    ['https://LOCALHOST.:8443/', strict, internal],
    ['https://shop.localhost/', strict, internal],
    ['https://localhost/', { ...strict, allowLoopback: true }, undefined],
    ['https://notlocalhost/', strict, undefined],
    ['https://localhost.example/', strict, undefined],
  ])('%s with %j: %s', (url, options, message) => {
    expect(refusal(url, options)).toBe(message);
  });
});

it('a delivery is refused before anything is sent, and loopback is for the sandbox', async () => {
  const attempt = (host: string, environment: 'sandbox' | 'production') =>
    createSend(sendOptions({ environment })).send(
      {
        account: 'default',
        subscription: 'one',
        url: `https://${host}:9/`,
        body: '',
        headers: {},
        secrets: [],
        login: undefined,
      },
      new AbortController().signal,
    );
  for (const environment of ['sandbox', 'production'] as const)
    await expect(attempt('169.254.169.254', environment)).rejects.toThrow(AttemptFailure);
  await expect(attempt('127.0.0.1', 'production')).rejects.toThrow(AttemptFailure);
  await expect(attempt('127.0.0.1', 'sandbox')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
