// Delays answers: until the time is over, the client has gone, or the mock stops.
import type { ServerResponse } from 'node:http';

/** In milliseconds. Clients seldom wait longer, and the server ends an answer that takes a minute. */
export const longestDelay = 30_000;

export type Delay = (res: ServerResponse, milliseconds: number) => Promise<void>;

export function createDelay(): { delay: Delay; endDelays: () => void } {
  const ends = new Set<() => void>();
  let isStopping = false;
  const delay: Delay = async (res, milliseconds) => {
    if (milliseconds === 0 || isStopping || res.destroyed) return;
    // The server ends connections on which nothing moves for as long as the longest delay.
    res.socket?.setTimeout(2 * longestDelay);
    await new Promise<void>((done) => {
      const end = () => {
        clearTimeout(timer);
        res.off('close', end);
        ends.delete(end);
        done();
      };
      const timer = setTimeout(end, milliseconds);
      res.on('close', end);
      ends.add(end);
    });
  };
  const endDelays = () => {
    isStopping = true;
    for (const end of ends) end();
  };
  return { delay, endDelays };
}
