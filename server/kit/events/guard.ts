// Refuses deliveries to internal addresses (SSRF). The check is on the address that is connected to, not on the host name:
// a name that resolves to a public address first and to a private one later (DNS rebinding) is refused too.
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { AttemptFailure } from './failure.ts';
import { isLocalName, type Address } from './resolve.ts';

const internalAddress = 'webhooks are not delivered to internal addresses';
// The URL does not show it, so the operator is told where to look.
const resolvesToInternal = `the host name resolves to internal addresses only, and ${internalAddress}`;

const blockList = (ranges: string): BlockList => {
  const list = new BlockList();
  for (const range of ranges.trim().split(/\s+/)) {
    const [net = '', bits] = range.split('/');
    list.addSubnet(net, Number(bits), familyOf(net));
  }
  return list;
};

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const loopback = blockList('127.0.0.0/8 ::1/128');

// Private, shared, link-local (cloud metadata services; Azure's has a public address), benchmarking, documentation, multicast and
// reserved ranges, and IPv6 addresses that contain an IPv4 address. BlockList itself looks into `::ffff:10.0.0.1`.
const forbidden = blockList(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16
  fc00::/7 fe80::/10 fec0::/10 ff00::/8`);

export function isAllowedAddress(address: string, { allowLoopback }: { allowLoopback: boolean }): boolean {
  const plain = address.replace(/%.*/, '');
  if (isIP(plain) === 0) return false;
  if (loopback.check(plain, familyOf(plain))) return allowLoopback;
  return !forbidden.check(plain, familyOf(plain));
}

/** For the connection itself: it connects only to addresses that this returns, and this returns only allowed ones. */
export const createGuardedLookup =
  (resolve: (hostname: string) => Promise<Address[]>, options: { allowLoopback: boolean }): LookupFunction =>
  (hostname, lookupOptions, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => isAllowedAddress(address, options));
        const [first] = allowed;
        if (!first) callback(new AttemptFailure(resolvesToInternal), '', 0);
        else if (lookupOptions.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 0);
      },
    );
  };

export interface UrlRules {
  allowLoopback: boolean;
  allowHttp: boolean;
}

/** The sandbox may deliver to this machine and without TLS. */
export const urlRules = ({ environment }: { environment: 'sandbox' | 'production' }): UrlRules => ({
  allowLoopback: environment === 'sandbox',
  allowHttp: environment === 'sandbox',
});

/**
 * Why nothing can be delivered to this URL: its scheme, a literal IP address, whose decimal, octal and short forms the URL
 * parser has normalised, or a name of this machine. Undefined for other host names: they are checked when they are resolved.
 */
export function whyUndeliverable(
  { protocol, hostname }: URL,
  { allowLoopback, allowHttp }: UrlRules,
): string | undefined {
  if (protocol !== 'https:' && !(allowHttp && protocol === 'http:'))
    return 'webhooks are delivered to https URLs only';
  const host = hostname.replace(/[[\]]/g, '');
  const address = isLocalName(host) ? '127.0.0.1' : host;
  return isIP(address) > 0 && !isAllowedAddress(address, { allowLoopback }) ? internalAddress : undefined;
}

export function checkUrl(url: URL, rules: UrlRules): void {
  const reason = whyUndeliverable(url, rules);
  if (reason !== undefined) throw new AttemptFailure(reason);
}
