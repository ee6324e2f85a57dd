// Receives the events of a sandbox, and hands them to whoever waits for them.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook } from '../client/webhooks.ts';
import type { EventName, EventPayload } from '../generated/operations.ts';

/** A union, discriminated by `name`. */
export type WebhookEvent = { [Name in EventName]: EventPayload<Name> }[EventName];

export interface NextEventOptions<Event = WebhookEvent> {
  /** By default 4, because most test runners end a test after 5. */
  timeoutSeconds?: number | undefined;
  /** Which of them is meant, for tests that run at the same time. */
  where?: ((event: Event) => boolean) | undefined;
}

interface Wanted {
  isMeant: (event: WebhookEvent) => boolean;
  promise: Promise<WebhookEvent>;
  resolve: (event: WebhookEvent) => void;
  reject: (error: Error) => void;
}

export async function startReceiver() {
  /** Those that nobody has asked for, oldest first. */
  let events: WebhookEvent[] = [];
  let wanted: Wanted[] = [];
  let seen = new Set<string>();
  let names: string[] = [];
  let refused: string | undefined;
  let secret: string | undefined;
  /** Why no event can arrive any more. */
  let over: string | undefined;

  const receive = async (req: IncomingMessage): Promise<number> => {
    const body = await buffer(req);
    if (secret === undefined) return 503;
    let event: WebhookEvent;
    try {
      event = (await verifyWebhook({ headers: req.headers, body, secret })) as WebhookEvent;
    } catch (error) {
      refused = String(error);
      return 400;
    }
    // A delivery may be repeated.
    const id = String(req.headers['webhook-id']);
    if (seen.has(id)) return 204;
    seen.add(id);
    names.push(event.name);
    const first = wanted.find(({ isMeant }) => isMeant(event));
    if (first) first.resolve(event);
    else events.push(event);
    return 204;
  };
  const server = createServer((req, res) => {
    receive(req).then(
      (status) => res.writeHead(status).end(),
      () => res.destroy(),
    );
  });
  // It does not keep the process of the test.
  server.unref().on('connection', (socket) => socket.unref());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const missing = (name: string | undefined, seconds: number): Error => {
    const counts = new Map<string, number>();
    for (const one of names) counts.set(one, (counts.get(one) ?? 0) + 1);
    const arrived = [...counts].map(([one, count]) => `${count} × ${one}`).join(', ') || 'none';
    const why = refused === undefined ? '' : ` A delivery was refused: ${refused}`;
    return new Error(
      `No ${name ?? 'event'} ${name === undefined ? '' : 'that was meant '}arrived within ${seconds} s. Events since the start or the last reset: ${arrived}.${why}`,
    );
  };

  /** Forgets what has arrived. Until `expect` says how the next are signed, deliveries are refused. */
  const forget = (why: string) => {
    secret = undefined;
    for (const { promise, reject } of wanted) {
      // A test that failed before it came to wait for it. Unhandled, it would fail the next one, or end the process.
      promise.catch(() => undefined);
      reject(new Error(why));
    }
    events = [];
    seen = new Set();
    names = [];
    refused = undefined;
  };

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    next: (
      name: string | undefined,
      { timeoutSeconds = 4, where = () => true }: NextEventOptions,
    ): Promise<WebhookEvent> => {
      if (over !== undefined) return Promise.reject(new Error(over));
      const isMeant = (event: WebhookEvent) => (name === undefined || event.name === name) && where(event);
      const at = events.findIndex(isMeant);
      const [event] = at < 0 ? [] : events.splice(at, 1);
      if (event) return Promise.resolve(event);
      let settle: Pick<Wanted, 'resolve' | 'reject'> | undefined;
      const promise = new Promise<WebhookEvent>((resolve, reject) => (settle = { resolve, reject }));
      const end = () => {
        clearTimeout(timer);
        wanted = wanted.filter((one) => one !== want);
      };
      const want: Wanted = {
        isMeant,
        promise,
        resolve: (found) => {
          end();
          settle?.resolve(found);
        },
        reject: (error) => {
          end();
          settle?.reject(error);
        },
      };
      const timer = setTimeout(() => {
        want.reject(missing(name, timeoutSeconds));
      }, 1000 * timeoutSeconds);
      wanted.push(want);
      return promise;
    },
    forget,
    expect: (newSecret: string) => (secret = newSecret),
    close: (why: string) => {
      over ??= why;
      forget(over);
      server.close();
      server.closeAllConnections();
    },
  };
}
