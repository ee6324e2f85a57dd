// How fast a backlog of webhooks is delivered to one receiver.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cases, load } from './load.ts';
import type { Row } from './report.ts';
import { createService } from './service.ts';

export async function benchDeliveries(events: number, rounds: number): Promise<Row[]> {
  let onArrival: () => void = () => undefined;
  const receiver = createServer((req, res) => {
    req.resume().once('end', () => {
      res.writeHead(204).end();
      onArrival();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  /** Resolves with deliveries a second, from the first to the last. */
  const arrivals = () =>
    new Promise<number>((resolve) => {
      let [arrived, first] = [0, 0];
      onArrival = () => {
        arrived += 1;
        if (arrived === 1) first = performance.now();
        if (arrived === events) resolve(((events - 1) / (performance.now() - first)) * 1000);
      };
    });

  await using service = await createService(0, url);
  const value: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await service.start({ WEBHOOK_WORKER: 'off' });
    await load(service.url, cases.cards, service.token, { requests: events });
    await service.stop();
    const delivered = arrivals();
    await service.start();
    value.push(await delivered);
    await service.stop();
  }
  receiver.close();
  receiver.closeAllConnections();
  return [{ measure: 'deliveries', subject: 'ours', unit: '/s', value }];
}
