/** A DNS server on loopback whose answers a test decides, also by never answering. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Undefined: it never answers. */
export type NameAnswer = { addresses: string[] } | { rcode: number } | { bytes: Buffer } | undefined;

export interface NameServer extends AsyncDisposable {
  /** For `dnsServers` of the send options. */
  address: string;
  /** Names in the order in which they were asked for, `A` and `AAAA` queries alike. */
  asked: string[];
  received: (number: number) => Promise<void>;
}

export const rcodes = { serverFailure: 2, noSuchName: 3 };

/** Only IPv4 addresses; a query for IPv6 gets an empty answer. */
export async function startNameServer(answer: (name: string) => NameAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const waiting: { number: number; done: () => void }[] = [];
  socket.on('message', (query, { port, address }) => {
    const name = nameIn(query);
    asked.push(name);
    for (const { number, done } of waiting) if (asked.length >= number) done();
    const wanted = answer(name);
    if (wanted) socket.send('bytes' in wanted ? wanted.bytes : respond(query, wanted), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    received: (number) =>
      asked.length >= number ? Promise.resolve() : new Promise((done) => waiting.push({ number, done })),
    [Symbol.asyncDispose]: () => new Promise((done) => void socket.close(done)),
  };
}

const headerBytes = 12;

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = headerBytes; query[at]; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join('.');
}

function respond(query: Buffer, wanted: { addresses: string[] } | { rcode: number }): Buffer {
  const endOfQuestion = query.indexOf(0, headerBytes) + 5;
  const isForIPv4 = query.readUInt16BE(endOfQuestion - 4) === 1;
  const addresses = 'addresses' in wanted && isForIPv4 ? wanted.addresses : [];
  const header = Buffer.from(query.subarray(0, headerBytes));
  // A response, recursion desired and available.
  header.writeUInt16BE(0x8180 | ('rcode' in wanted ? wanted.rcode : 0), 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    // The name of the question, type A, class IN, valid for no time at all, four bytes.
    const head = Buffer.from([0xc0, headerBytes, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
    return Buffer.concat([head, Buffer.from(address.split('.').map(Number))]);
  });
  return Buffer.concat([header, query.subarray(headerBytes, endOfQuestion), ...records]);
}
