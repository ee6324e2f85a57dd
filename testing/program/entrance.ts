// One listener in front of one app after the other, for a sandbox that can be reset: its address stays, and its connections stay open.
import type { RequestListener, ServerResponse } from 'node:http';
import type { listen } from '../../server/kit/http/listen.ts';
import { isDoneWithin } from '../../server/kit/rules/async.ts';

type Listening = Awaited<ReturnType<typeof listen>>;

/** How long requests may still run when their app ends. Then they are cut off. */
const lastMilliseconds = 5_000;

export function createEntrance(reallyListen: typeof listen) {
  let listening: Listening | undefined;
  let open: (app: RequestListener) => void = () => undefined;
  let current: Promise<RequestListener>;
  const hold = () => {
    current = new Promise((resolve) => (open = resolve));
  };
  hold();
  const running = new Set<ServerResponse>();
  let onIdle: () => void = () => undefined;
  const receive: RequestListener = (req, res) => {
    void current.then((app) => {
      // Its caller has gone while it waited. It would never be seen to end.
      if (res.destroyed) return;
      running.add(res);
      res.once('close', () => {
        running.delete(res);
        if (running.size === 0) onIdle();
      });
      app(req, res);
    });
  };
  const finish = async () => {
    if (running.size === 0) return;
    const idle = new Promise<void>((resolve) => (onIdle = resolve));
    if (await isDoneWithin(lastMilliseconds, idle)) return;
    for (const { req } of running) req.socket.destroy();
  };
  return {
    /** From now on requests wait for the next app. */
    hold,
    /** For the app of a service: it takes over. What it gets as `close` only finishes the requests of this app. */
    listen: async (...[app, options, refusals]: Parameters<typeof listen>): Promise<Listening> => {
      listening ??= await reallyListen(receive, options, refusals);
      open(app);
      return { ...listening, endKeepAlive: () => undefined, close: finish };
    },
    close: async (): Promise<void> => listening?.close(),
  };
}
