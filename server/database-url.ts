// What DATABASE_URL says, for faults and warnings of the configuration.

/** As libpq accepts them: `host1,host2` or `host1:5432,host2:5433`, also as `?host=host1,host2`. */
export function hasSeveralHosts(databaseUrl: string): boolean {
  const [, authority = '', query = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)([^#]*)/i.exec(databaseUrl) ?? [];
  // A password may have commas.
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  return hosts.includes(',') || /[?&](?:host|hostaddr|port)=[^&]*(?:,|%2C)/i.test(query);
}

/**
 * Whether user, password or database name have a / ? or # that ends them for a URL parser, which then takes a part of the
 * password for the host. An @ in the query is allowed.
 */
export function hasUnencodedPassword(databaseUrl: string): boolean {
  const [, rest = ''] = /^postgres(?:ql)?:\/\/(.*)$/is.exec(databaseUrl) ?? [];
  const withoutQuery = rest.replace(/\?\w+=[^?#]*$/, '');
  return /[/?#].*@/s.test(withoutQuery);
}

export function isOnThisMachine(databaseUrl: string): boolean {
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = (searchParams.get('host') ?? hostname).toLowerCase();
  // A path names the folder of a socket.
  return (
    ['', 'localhost', '::1', '[::1]'].includes(host) ||
    host.startsWith('/') ||
    /^127(\.\d{1,3}){3}$/.test(host)
  );
}

/** As `pg` decides it: every mode but these is TLS or fails. */
export function hasTls(databaseUrl: string, fromEnvironment: string | undefined): boolean {
  const { searchParams } = new URL(databaseUrl);
  const asked = ['sslmode', 'ssl', 'sslcert', 'sslkey', 'sslrootcert']
    .map((name) => searchParams.get(name) ?? '')
    .find((value) => value !== '');
  return !['', 'disable', 'allow', '0', 'false'].includes(asked ?? fromEnvironment ?? '');
}
