// What DATABASE_URL says, for faults and warnings of the configuration.

/** No message has a part of the URL: what looks like its host may be a part of the password. */
export function databaseUrlFault(text: string): string | undefined {
  if (hasUnencodedPassword(text))
    return 'cannot be read: characters such as @ / # ? in the password must be percent-encoded (@ is %40, / is %2F, # is %23, ? is %3F)';
  if (namesSeveralHosts(text))
    return 'must name one host: put a proxy that leads to the primary, such as HAProxy, before several (see docs/operating.md)';
  // Without both slashes, a parser takes the password for a part of the path.
  return /^postgres(?:ql)?:\/\//i.test(text) && URL.canParse(text) ? undefined : 'must be a postgres URL';
}

/** As libpq accepts them: `host1,host2` or `host1:5432,host2:5433`, also as `?host=host1,host2`. */
function namesSeveralHosts(databaseUrl: string): boolean {
  const [, authority = '', query = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)([^#]*)/i.exec(databaseUrl) ?? [];
  // A password may have commas.
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  return hosts.includes(',') || /[?&](?:host|hostaddr|port)=[^&]*(?:,|%2C)/i.test(query);
}

/**
 * Whether user, password or database name have a / ? or # that ends them for a URL parser, which then takes a part of the
 * password for the host. An @ in the query is allowed.
 */
function hasUnencodedPassword(databaseUrl: string): boolean {
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
