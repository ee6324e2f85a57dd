// Webhooks: how fast a backlog is delivered to one receiver, beside a bare loop of signed requests to the same receiver, and
// how long one event takes when nothing else is going on.
import type { Sending } from './peers/sender.ts';
import { startPeer, type Programs } from './programs.ts';
import { listen, post } from './receiver.ts';
import type { WebhookTimes } from './results.ts';
import { startService } from './service.ts';
import { spread } from './statistics.ts';

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };
const callers = 8;

export async function benchWebhooks(
  programs: Programs,
  { rounds, events, progress }: { rounds: number; events: number; progress: (text: string) => void },
): Promise<WebhookTimes> {
  let body = '';
  let onArrival: () => void = () => undefined;
  await using receiver = await listen((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      body = Buffer.concat(chunks).toString();
      res.writeHead(204).end();
      onArrival();
    });
  });
  /** Resolves with the milliseconds between the first and the last of so many arrivals. */
  const arrivals = (count: number) =>
    new Promise<number>((resolve) => {
      let [arrived, first] = [0, 0];
      onArrival = () => {
        arrived += 1;
        if (arrived === 1) first = performance.now();
        if (arrived === count) resolve(performance.now() - first);
      };
    });

  progress('Webhooks: starting the service');
  await using service = await startService(programs);
  await post(service, '/webhook-subscriptions', { url: receiver.url });
  const alone: number[] = [];
  for (let sent = 0; sent < 20; sent += 1) {
    progress(`Webhooks: one event alone, ${sent + 1} of 20`);
    const arrived = arrivals(1).then(() => performance.now());
    await post(service, '/payment-methods', card);
    const answered = performance.now();
    alone.push(Math.max(0, (await arrived) - answered));
  }
  await using sender = startPeer<Sending, number>(programs.peer('sender'));
  const [deliveries, bareLoop]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`Webhooks: making a backlog of ${events} events, round ${round} of ${rounds}`);
    await service.restart({ WEBHOOK_WORKER: 'off' });
    let made = 0;
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (made < events) {
          made += 1;
          await post(service, '/payment-methods', card);
        }
      }),
    );
    progress(`Webhooks: delivering, round ${round} of ${rounds}`);
    const delivered = arrivals(events);
    await service.restart({});
    deliveries.push(((events - 1) / (await delivered)) * 1000);
    onArrival = () => undefined;
    bareLoop.push(await sender.ask({ url: receiver.url, body, count: events }));
  }
  return { deliveries: spread(deliveries), bareLoop: spread(bareLoop), alone: spread(alone) };
}
