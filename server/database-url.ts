// What DATABASE_URL says, read by the parser of pg, so that a check, a warning or a message means the database that pg will use.
import { isIP } from 'node:net';
import { parse, type ConnectionOptions } from 'pg-connection-string';
import { codeOf } from './faults.ts';
import { guide } from './guides.ts';

const noUrl = 'must be a postgres URL';

const notEncoded =
  'cannot be read: characters such as @ / # ? in the password must be percent-encoded (@ is %40, / is %2F, # is %23, ? is %3F)';

const severalHosts = (): string =>
  `must name one host: put a proxy that leads to the primary, such as HAProxy, before several (see ${guide('operating.md')})`;

/** No message has a part of the URL: what looks like its host may be a part of the password. */
export function databaseUrlFault(text: string): string | undefined {
  // The parser accepts other schemes and no scheme. Without both slashes, it takes the password for a part of the path.
  const [, authority] = /^postgres(?:ql)?:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (authority === undefined) return noUrl;
  if (hasUnencodedPassword(text)) return notEncoded;
  // A password may have commas. Several hosts with ports are no URL, so the parser would not say what is wrong.
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) return severalHosts();
  try {
    const { host, port } = parse(text);
    return [host, port].some((value) => value?.includes(',')) ? severalHosts() : undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Never the message of an error that may quote the URL. */
function reasonOf(error: unknown): string {
  if (error instanceof TypeError || error instanceof URIError || !(error instanceof Error)) return noUrl;
  if (Object.hasOwn(error, 'syscall'))
    return `names a file that cannot be read (${codeOf(error) ?? ''}): check sslcert, sslkey and sslrootcert`;
  return `cannot be used: ${error.message}`;
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

/** Undefined if the URL names none: then it is the user of the process, or PGUSER. */
export const roleOf = (url: string): string | undefined => parse(url).user || undefined;

/** Without user and password, for messages. A socket is named by its folder. */
export function placeOf(url: string): string {
  const { host: given, port, database } = parse(url);
  const host = given ?? '';
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const place = `${name}${port && !host.startsWith('/') ? `:${port}` : ''}/${database ?? ''}`;
  // An @ in it is one of a password that was not encoded.
  return place.includes('@') ? 'DATABASE_URL' : place;
}

type PgEnv = Readonly<Record<string, string | undefined>>;

/** Whether others in the network could read what is sent. */
export function isExposed(url: string, env: PgEnv): boolean {
  const parsed = parse(url);
  return !isLocal(parsed.host || env.PGHOST || '') && !hasTls(parsed, env.PGSSLMODE);
}

/** A path names the folder of a socket. */
const isLocal = (host: string): boolean =>
  ['', 'localhost', '::1'].includes(host.toLowerCase()) ||
  host.startsWith('/') ||
  /^127(\.\d{1,3}){3}$/.test(host);

const modesWithTls = ['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** pg asks PGSSLMODE if the URL says nothing. Its `prefer` never falls back to a connection without TLS. */
const hasTls = ({ ssl }: ConnectionOptions, mode = ''): boolean =>
  ssl === undefined ? modesWithTls.includes(mode) : Boolean(ssl);
