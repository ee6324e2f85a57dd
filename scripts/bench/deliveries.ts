// How long an event takes from the answer that acknowledged its cause to its receiver: alone, and beside subscriptions whose
// receivers never answer. The difference is what a hanging receiver costs the others.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BenchedService } from './service.ts';

const events = 200;
const hanging = 10;

export async function benchDeliveries(service: BenchedService) {
  const arrived = new Map<string, { at: number; tell: () => void }>();
  await using good = await listen((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      const { target } = JSON.parse(body) as { target: { id: string } };
      const waiting = arrived.get(target.id);
      arrived.set(target.id, { at: performance.now(), tell: () => undefined });
      waiting?.tell();
      res.writeHead(204).end();
    });
  });
  await using silent = await listen(() => undefined);
  await post(service, '/webhook-subscriptions', { url: good.url });

  const round = async (receivers: string) => {
    const begun = performance.now();
    const times = await Promise.all(
      Array.from({ length: events }, async () => {
        const { id } = await post(service, '/payment-methods', {
          method: 'card',
          number: '4111111111111111',
          expiration_date: '12/39',
        });
        const acknowledged = performance.now();
        if (!arrived.has(id)) await new Promise<void>((tell) => arrived.set(id, { at: Infinity, tell }));
        return Math.max(0, (arrived.get(id)?.at ?? Infinity) - acknowledged);
      }),
    );
    times.sort((a, b) => a - b);
    const at = (share: number) => Math.round(times[Math.floor(share * (events - 1))] ?? NaN);
    return {
      receivers,
      events,
      medianMs: at(0.5),
      p99Ms: at(0.99),
      perSecond: Math.round((events / (performance.now() - begun)) * 1000),
    };
  };

  const alone = await round('1 that answers');
  for (let made = 0; made < hanging; made += 1)
    await post(service, '/webhook-subscriptions', { url: silent.url });
  return [alone, await round(`1 that answers, ${hanging} that hang`)];
}

async function post({ url, token }: BenchedService, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as { id: string };
}

async function listen(handle: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        server.closeAllConnections();
      }),
  };
}
