// Wakes workers of all processes when deliveries were stored. NOTIFY is never part of the transaction of a change: commits that
// notify wait for each other (decision 24). Nothing is lost without it, because workers poll, too.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Pool } from './database.ts';

const channel = 'payments_deliveries';
const onceInMilliseconds = 20;
const againMilliseconds = 1_000;

/** Called after a commit. The answer to its request is sent meanwhile. */
export function createNotify(pool: Pool): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      pool.query(`notify ${channel}`).catch(() => undefined);
    }, onceInMilliseconds).unref();
  };
}

/** Has a connection of its own. Behind a pooler in transaction mode nobody can listen. */
export function listenOn({ options }: pg.Pool, onNotify: () => void): { stop: () => void } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const listen = async (): Promise<void> => {
    const { connectionString, application_name, connectionTimeoutMillis } = options;
    const client = new pg.Client({
      ...{ connectionString, application_name, connectionTimeoutMillis, keepAlive: true },
    });
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
        client.on('notification', onNotify).on('error', reject).on('end', resolve);
        const start = async () => {
          await client.connect();
          await client.query(`listen ${channel}`);
        };
        start().catch(reject);
      });
    } finally {
      // Not `end`, which waits for a server that may be frozen.
      client.connection.stream.destroy();
    }
  };
  const keepListening = async (): Promise<void> => {
    while (!signal.aborted) {
      // The pool logs why the database is away.
      await listen().catch(() => undefined);
      await wait(againMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  };
  void keepListening();
  return {
    stop: () => {
      stopping.abort();
    },
  };
}
