// The bare loop that webhook deliveries are compared with: signed requests, one after another, and nothing is stored.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { runPeer } from './peer.ts';

export interface Sending {
  url: string;
  body: string;
  count: number;
}

/** Returns requests per second. */
runPeer(async ({ url, body, count }: Sending): Promise<number> => {
  const key = randomBytes(32);
  const start = performance.now();
  for (let sent = 0; sent < count; sent += 1) {
    const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1000))];
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
    await response.arrayBuffer();
  }
  return (count / (performance.now() - start)) * 1000;
});
