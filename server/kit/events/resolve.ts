// Resolves the host names of receivers with c-ares, which can be cancelled. `dns.lookup` cannot: it runs on the four threads
// that the whole process shares, so a few names that hang delay everybody (decision 9).
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createFairShare } from '../database/fair-share.ts';
import { AttemptFailure } from './failure.ts';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** The addresses of a host name, for a delivery of this merchant account. Stops when `signal` is aborted. */
type Resolve = (hostname: string, account: string, signal: AbortSignal) => Promise<Address[]>;

export interface ResolveOptions {
  /** `address:port` of the DNS servers; those of the system by default. */
  dnsServers?: readonly string[];
}

const resolveLimits = {
  milliseconds: 5_000,
  /** Concurrent resolutions per merchant account. */
  perAccount: 20,
  /** Per address family. A name may have thousands of addresses, and a delivery tries one after the other. */
  addresses: 4,
};

const addressOf = (address: string): Address => ({ address, family: isIP(address) === 6 ? 6 : 4 });

const bareName = (hostname: string): string => hostname.replace(/\.$/, '').toLowerCase();

/** RFC 6761: these names are this machine, and are not asked for on the network. */
export const isLocalName = (hostname: string): boolean => /^(.*\.)?localhost$/.test(bareName(hostname));

export function createResolve({ dnsServers }: ResolveOptions): Resolve {
  const shares = createFairShare(resolveLimits.perAccount);
  return async (hostname, account, signal) => {
    const name = bareName(hostname);
    if (isIP(name) > 0) return [addressOf(name)];
    if (isLocalName(hostname)) return ['127.0.0.1', '::1'].map(addressOf);
    const local = await findInHostsFile(name);
    if (local.length > 0) return local;
    const { turn, leave } = shares.enter(account);
    try {
      await turn;
      return await query(hostname, dnsServers, signal);
    } finally {
      leave();
    }
  };
}

async function findInHostsFile(name: string): Promise<Address[]> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  // Some of these files have a hundred thousand lines.
  if (!text.toLowerCase().includes(name)) return [];
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    return isIP(address) > 0 && names.includes(name) ? [addressOf(address)] : [];
  });
}

async function query(
  hostname: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Address[]> {
  // The attempt may have ended while it waited for its turn.
  signal.throwIfAborted();
  // One resolver each, because a resolver cancels all of its queries. A try that fails doubles the timeout of the next.
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  if (servers) resolver.setServers(servers);
  const cancel = () => {
    resolver.cancel();
  };
  const deadline = setTimeout(cancel, resolveLimits.milliseconds);
  signal.addEventListener('abort', cancel);
  try {
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = results.flatMap((result) =>
      result.status === 'fulfilled' ? result.value.slice(0, resolveLimits.addresses).map(addressOf) : [],
    );
    if (found.length > 0) return found;
    const [first] = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    throw failureOf(first);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', cancel);
  }
}

function failureOf(reason: unknown): AttemptFailure {
  const { code = 'ENODATA' } = (reason ?? {}) as NodeJS.ErrnoException;
  const isLate = code === 'ETIMEOUT' || code === 'ECANCELLED';
  const message = isLate
    ? `the host name could not be resolved within ${resolveLimits.milliseconds / 1000} s`
    : `${code}: the host name could not be resolved`;
  return new AttemptFailure(message, { cause: reason });
}
