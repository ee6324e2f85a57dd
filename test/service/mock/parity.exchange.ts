/** Sends one request to mock and service unchanged, and compares the parts of the answers that must be equal. */
import { existsSync } from 'node:fs';
import { Agent, request as open, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { mockOperations } from '../../../mock/operations.ts';
import { isList } from '../../../mock/outcomes/list.ts';
import { kebab } from '../../../scripts/generate/handlers.ts';
import { loadContract } from '../../../server/kit/contract/load.ts';
import { codeOf } from '../../../server/kit/faults.ts';
import { matches } from '../../support/contract-check.ts';

/** The caller: `administrator` has all permissions, `restricted` has few, and `stranger` has a token without a valid signature. */
export interface Who {
  kind: 'administrator' | 'restricted' | 'stranger' | 'nobody';
  token?: string;
  /** For failure messages. */
  says: string;
}

export interface Wire {
  /** What is special about it. */
  name: string;
  method: string;
  /** Path and query, exactly as sent. */
  target: string;
  headers: Record<string, string | string[]>;
  body?: string | Buffer;
  who: Who;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed JSON, or the text if it is not JSON. */
  body: unknown;
}

export interface Exchange {
  wire: Wire;
  mock: Answer;
  service: Answer;
}

export interface Parties {
  mock: string;
  service: string;
}

// Not fetch, which normalises paths, joins headers and cannot send a header twice.
const agent = new Agent({ keepAlive: true });

export const hangUp = (): void => {
  agent.destroy();
};

export function knock(url: string, wire: Wire): Promise<Answer> {
  const { method, target, headers, body, who } = wire;
  return new Promise((done, failed) => {
    const { hostname, port } = new URL(url);
    const asked = open({ agent, hostname, port, method, path: target });
    if (who.token !== undefined) asked.setHeader('Authorization', `Bearer ${who.token}`);
    // Node omits this header for methods that rarely have a body; the body would then be read as another request.
    if (body !== undefined && !('Transfer-Encoding' in headers))
      asked.setHeader('Content-Length', Buffer.byteLength(body));
    for (const [name, value] of Object.entries(headers)) asked.setHeader(name, value);
    // A connection that was kept may be closed by the other side at the moment that it is used again.
    asked.on('error', (error) => {
      if (asked.reusedSocket && codeOf(error) === 'ECONNRESET') knock(url, wire).then(done, failed);
      else failed(error);
    });
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', failed);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        done({ status: response.statusCode ?? 0, headers: response.headers, body: parse(text) });
      });
    });
    asked.end(body);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function exchange(parties: Parties, wire: Wire): Promise<Exchange> {
  const [mock, service] = await Promise.all([knock(parties.mock, wire), knock(parties.service, wire)]);
  return { wire, mock, service };
}

const promised = [
  ...['content-type', 'allow', 'www-authenticate', 'retry-after', 'connection', 'idempotency-replayed'],
  ...['access-control-allow-origin', 'access-control-allow-methods', 'access-control-max-age'],
  ...['access-control-allow-headers', 'access-control-expose-headers'],
];

const outcomes = join(import.meta.dirname, '../../../mock/outcomes');

/** What the mock answers with an example; the service has its own data. */
const shown = mockOperations(loadContract().document).filter(
  (operation) => !isList(operation) && !existsSync(join(outcomes, `${kebab(operation.id)}.ts`)),
);

/** Whether the two answers are one to a caller: all of a refusal, and of a success all that the request decides. */
export const agree = ({ wire: { method, target }, mock, service }: Exchange): boolean => {
  const [path = ''] = target.split('?');
  const isExample = shown.some((one) => one.method.toUpperCase() === method && matches(one.path, path));
  return isDeepStrictEqual(essence(mock, isExample), essence(service, isExample));
};

function essence({ status, headers, body }: Answer, isExample: boolean): unknown {
  return {
    status,
    headers: promised.map((name) => headers[name]),
    hasRequestId: headers['x-request-id'] !== undefined,
    body: status >= 400 ? body : isExample ? Object.keys(body as object).sort() : decided(body),
  };
}

// IDs, times, secrets and stored data must differ; URLs start with that of the mock or the service.
const own = ['id', 'fingerprint', 'created_at', 'updated_at', 'secret'];

function decided(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return typeof body;
  if ('next_cursor' in body && 'limit' in body) return [Object.keys(body).sort(), body.limit];
  if (!('type' in body)) return withoutOrigins(body);
  const kept = Object.entries(body).filter(([name]) => !own.includes(name));
  const told = kept.map(([name, value]) => {
    const isThere = name === 'buyer' || name === 'approval_url';
    return [name, isThere ? value !== null : value];
  });
  return Object.fromEntries(told) as unknown;
}

const withoutOrigins = (body: object): unknown =>
  JSON.parse(JSON.stringify(body).replace(/"http:\/\/127\.0\.0\.1:\d+/g, '"')) as unknown;

/** The request as a shell command, and both answers. */
export const report = ({ wire, mock, service }: Exchange): string =>
  [
    `Mock and service differ on: ${wire.name}`,
    curl(wire),
    `mock:    ${show(mock)}`,
    `service: ${show(service)}`,
  ].join('\n  ');

const show = ({ status, headers, body }: Answer) =>
  `${status} ${JSON.stringify(Object.fromEntries(promised.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))))} ${JSON.stringify(body).slice(0, 2_000)}`;

function curl({ method, target, headers, body, who }: Wire): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `-H ${quote(`${name}: ${one}`)}`),
  );
  if (who.token !== undefined) lines.unshift('-H "Authorization: Bearer $TOKEN"');
  const isText = body === undefined || typeof body === 'string';
  if (isText && body !== undefined) lines.push(`--data-binary ${quote(body)}`);
  if (!isText) lines.push(`--data-binary @<(echo ${body.toString('base64')} | base64 -d)`);
  return `curl -i --path-as-is -X ${method} ${lines.join(' ')} "$URL"${quote(target)} # as ${who.says}`;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
