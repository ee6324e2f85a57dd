// Serves the metrics on a port of their own, because they are for operators and have no token. Health is there too: callers
// cannot use up the connections of this port.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  port: number;
  close: () => Promise<void>;
}

/** A scrape reads the database, so those that come within this time share one. */
const keptMilliseconds = 1_000;

export async function serveMetrics(
  { text, contentType }: Pick<Metrics, 'text' | 'contentType'>,
  { host, port }: { host: string; port: number },
): Promise<MetricsServer> {
  let kept: { body: Promise<string>; until: number } | undefined;
  const read = () => {
    if (!kept || performance.now() >= kept.until)
      kept = { body: text(), until: performance.now() + keptMilliseconds };
    return kept.body;
  };
  const server = createServer((req, res) => {
    if (!isNamed(req, host)) res.writeHead(421).end('Use the IP address, or the name in METRICS_HOST.\n');
    else if (req.method !== 'GET') res.writeHead(404).end();
    else if (req.url === '/healthz')
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok"}');
    else if (req.url !== '/metrics') res.writeHead(404).end();
    else
      read().then(
        (body) => res.writeHead(200, { 'Content-Type': contentType }).end(body),
        () => res.writeHead(500).end(),
      );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

/**
 * Any web page can make a name of its own mean the address of this machine (DNS rebinding), and then read what it serves. Such a
 * name has a dot; names without one are those of a container network.
 */
function isNamed({ headers }: IncomingMessage, own: string): boolean {
  const name = (headers.host ?? '').replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || name === own || /^[\w-]+$/.test(name);
}
