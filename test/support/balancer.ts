/**
 * Sends requests to several instances as a load balancer does: only to those whose `/readyz` is 200, and again to another one if
 * no connection was made. Everything else that goes wrong is reported.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createCaller, type Caller } from './call.ts';

export interface Balancer extends AsyncDisposable {
  /** Instances may come and go. */
  add: (url: string) => Promise<void>;
  call: Caller;
  /** How many requests an instance has not answered yet. */
  inFlight: (url: string) => number;
}

interface Instance {
  url: string;
  call: Caller;
  isReady: boolean;
  inFlight: number;
}

const syscallOf = (error: unknown) => (error as { cause?: { syscall?: string } }).cause?.syscall;

export function startBalancer(): Balancer {
  const instances: Instance[] = [];
  let over = false;
  let turn = 0;
  const look = async (one: Instance) => {
    one.isReady = await fetch(`${one.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  const lookAgainAndAgain = async () => {
    while (!over) {
      await Promise.all(instances.map(look));
      await wait(50);
    }
  };
  const looking = lookAgainAndAgain();
  return {
    async add(url) {
      const one = { url, call: createCaller(url), isReady: false, inFlight: 0 };
      await look(one);
      instances.push(one);
    },
    async call(...args) {
      for (;;) {
        const ready = instances.filter(({ isReady }) => isReady);
        const one = ready[(turn += 1) % ready.length];
        if (!one) throw new Error('No instance is ready.');
        one.inFlight += 1;
        try {
          return await one.call(...args);
        } catch (error) {
          one.isReady = false;
          // A process that is killed resets connections that it has not accepted yet, before it refuses new ones.
          if (syscallOf(error) !== 'connect') throw error;
        } finally {
          one.inFlight -= 1;
        }
      }
    },
    inFlight: (url) => instances.find((one) => one.url === url)?.inFlight ?? 0,
    async [Symbol.asyncDispose]() {
      over = true;
      await looking;
    },
  };
}
