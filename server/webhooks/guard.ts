// Where a delivery may go. Judged on the address that is actually connected to, so that a name which resolves to something
// harmless first and to something private later (DNS rebinding) gains nothing.
import { lookup as dnsLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export class RefusedAddress extends Error {}

const blocked = (v4: [string, number][], v6: [string, number][]): BlockList => {
  const list = new BlockList();
  for (const [net, bits] of v4) list.addSubnet(net, bits, 'ipv4');
  for (const [net, bits] of v6) list.addSubnet(net, bits, 'ipv6');
  return list;
};

const loopback = blocked([['127.0.0.0', 8]], [['::1', 128]]);

// Private, shared, link-local (where clouds keep their metadata), benchmarking, documentation, multicast, reserved.
const never = blocked(
  [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    // Azure keeps its metadata beside the private addresses.
    ['168.63.129.16', 32],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ],
  [
    ['::', 128],
    ['100::', 64],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['3fff::', 20],
    ['5f00::', 16],
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['fc00::', 7],
    ['fe80::', 10],
    ['fec0::', 10],
    ['ff00::', 8],
  ],
);

/** An IPv6 address that only wraps an IPv4 address is judged as that. */
function unwrap(address: string): string {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) !== 6) return bare;
  const groups = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = /^::(?:ffff:(?:0:)?)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(groups);
  if (!mapped) return groups;
  const [high, low] = [parseInt(mapped[1] ?? '', 16), parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

export function isAllowedAddress(address: string, { allowLoopback }: { allowLoopback: boolean }): boolean {
  const plain = unwrap(address);
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(plain) === 0) return false;
  if (loopback.check(plain, family)) return allowLoopback;
  return !never.check(plain, family);
}

/** Looks a name up like Node does, and hands on only addresses that may be connected to. */
export const createGuardedLookup =
  (options: { allowLoopback: boolean }): LookupFunction =>
  (hostname, lookupOptions, callback) => {
    dnsLookup(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error) {
        callback(error, '', 0);
        return;
      }
      const allowed = addresses.filter(({ address }) => isAllowedAddress(address, options));
      const [first] = allowed;
      if (!first) callback(new RefusedAddress('the address may not be delivered to'), '', 0);
      else if (lookupOptions.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

/** The URL parser has made decimal, octal and short spellings of an address into its usual one; names come later. */
export function checkUrl(
  url: URL,
  { allowLoopback, allowHttp }: { allowLoopback: boolean; allowHttp: boolean },
): void {
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw new RefusedAddress('only https may be delivered to');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) > 0 && !isAllowedAddress(host, { allowLoopback })) {
    throw new RefusedAddress('the address may not be delivered to');
  }
}
