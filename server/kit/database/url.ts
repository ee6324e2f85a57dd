// What DATABASE_URL says, read by the parser of pg, so that a check, a warning or a message means the database that pg will use.
import { isIP } from 'node:net';
import { parse } from 'pg-connection-string';
import { codeOf } from '../faults.ts';
import { guide } from '../guides.ts';

const noUrl = 'must be a postgres URL';

const notEncoded =
  'cannot be read: characters such as @ / # ? in the password must be percent-encoded (@ is %40, / is %2F, # is %23, ? is %3F)';

const severalHosts = (): string =>
  `must name one host: put a proxy that leads to the primary, such as HAProxy, before several (see ${guide('scaling.md')})`;

/** No message has a part of the URL: what looks like its host may be a part of the password. */
export function databaseUrlFault(text: string): string | undefined {
  // The parser accepts other schemes and no scheme. Without both slashes, it takes the password for a part of the path.
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/is.exec(text) ?? [];
  if (rest === undefined) return noUrl;
  // A / ? or # in the password ends it for the parser, which then takes a part of it for the host. An @ in the query is allowed.
  if (/[/?#].*@/s.test(rest.replace(/\?\w+=[^?#]*$/, ''))) return notEncoded;
  // Several hosts with ports are no URL, so the parser would not say what is wrong. A password may have commas.
  const [authority = ''] = rest.split(/[/?#]/);
  if (/,[^@]*$/.test(authority)) return severalHosts();
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

const isLoopback = (host: string): boolean => /^(localhost|::1|127(\.\d{1,3}){3})$/i.test(host);

/** pg's `prefer` never falls back to a connection without TLS. */
const modesWithTls = ['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Whether others in the network could read what is sent. pg asks the environment for what the URL does not say. */
export function isExposed(url: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const { host, ssl = modesWithTls.includes(env.PGSSLMODE ?? '') } = parse(url);
  const named = host || env.PGHOST || 'localhost';
  const isSocket = named.startsWith('/');
  return !isSocket && !isLoopback(named) && !ssl;
}
