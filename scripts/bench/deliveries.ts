// Webhook latency: from the response of the API call to the arrival of its event. Measured alone and with subscriptions
// whose receivers never respond; the difference is what a hanging receiver costs the others.
import { listen, post } from './receiver.ts';
import type { BenchedService } from './service.ts';

const events = 200;
const hangingReceivers = 10;

export async function benchDeliveries(service: BenchedService) {
  const arrivals = new Map<string, { at: number; notify: () => void }>();
  await using good = await listen((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      const { target } = JSON.parse(body) as { target: { id: string } };
      const waiting = arrivals.get(target.id);
      arrivals.set(target.id, { at: performance.now(), notify: () => undefined });
      waiting?.notify();
      res.writeHead(204).end();
    });
  });
  await using hanging = await listen(() => undefined);
  await post(service, '/webhook-subscriptions', { url: good.url });

  const round = async (receivers: string) => {
    const start = performance.now();
    const times = await Promise.all(
      Array.from({ length: events }, async () => {
        const { id } = await store(service, {
          method: 'card',
          number: '4111111111111111',
          expiration_date: '12/39',
        });
        const acknowledged = performance.now();
        if (!arrivals.has(id))
          await new Promise<void>((notify) => arrivals.set(id, { at: Infinity, notify }));
        return Math.max(0, (arrivals.get(id)?.at ?? Infinity) - acknowledged);
      }),
    );
    times.sort((a, b) => a - b);
    const percentile = (share: number) => Math.round(times[Math.floor(share * (events - 1))] ?? NaN);
    return {
      receivers,
      events,
      medianMs: percentile(0.5),
      p99Ms: percentile(0.99),
      perSecond: Math.round((events / (performance.now() - start)) * 1000),
    };
  };

  const alone = await round('1 that responds');
  for (let created = 0; created < hangingReceivers; created += 1)
    await post(service, '/webhook-subscriptions', { url: hanging.url });
  return [alone, await round(`1 that responds, ${hangingReceivers} that hang`)];
}

/** So many calls at once wait for a connection longer than a slow machine allows, and are refused: then asks again. */
async function store(service: BenchedService, card: object): Promise<{ id: string }> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await post(service, '/payment-methods', card);
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}
