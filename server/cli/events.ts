// For commands that change what subscribers are told of.
import type { Config } from '../config.ts';
import { createAjv } from '../contract/ajv.ts';
import { loadContract } from '../contract/load.ts';
import { createResponseCheck } from '../contract/responses.ts';
import { createAnnounce, type Announce } from '../events.ts';
import type { Services } from '../handlers/deps.ts';
import type { OpenedDatabase } from '../store/open.ts';
import { createOutbox } from '../webhooks/outbox.ts';
import { openQueue, type Queue } from '../webhooks/queue.ts';
import { publicUrlOf, withServices } from './support.ts';

export interface Events {
  database: OpenedDatabase;
  services: Services;
  announce: Announce;
  queue: Queue;
  config: Config;
}

/** The same with events: what is changed here is told to subscribers like any other change. */
export const withEvents = <T>(
  work: (parts: Events) => Promise<T>,
  /** For those who run for long: they look after the queue, and want more connections. */
  { supervise = false, size = 2 } = {},
): Promise<T> =>
  withServices(
    async (database, services, config) => {
      const queue = await openQueue(database.pool, () => undefined, { supervise });
      try {
        const contract = loadContract();
        const check = createResponseCheck(contract.document, createAjv(contract.document));
        const publicUrl = await publicUrlOf(database.db, config);
        const announce = createAnnounce(
          createOutbox(queue, check),
          () => publicUrl,
          () => new Date(),
        );
        return await work({ database, services, announce, queue, config });
      } finally {
        await queue.close();
      }
    },
    { size },
  );
