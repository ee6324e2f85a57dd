// Metrics and traces, loaded only if they are on: others pay neither for the packages nor for counting.
import type { EventName } from '../../generated/operations.ts';
import { readBuild } from '../build.ts';
import type { Config } from '../config.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import type { OpenedDatabase } from '../database/open.ts';
import { countQueue, findOldestPending } from '../events/deliveries.ts';
import { OperatorFault } from '../faults.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './tracing.ts';

export interface Observing {
  metrics: Metrics | undefined;
  metricsPort: number | undefined;
  tracing: Tracing | undefined;
  readFrom: (database: OpenedDatabase) => void;
  close: () => Promise<void>;
}

/** A scrape has 10 s by default, and the other metrics matter most while the database does not answer. */
const scrapeMilliseconds = 2_000;

export async function observe({ metricsHost, metricsPort, tracing }: Config): Promise<Observing> {
  const started =
    metricsPort === undefined ? undefined : await startMetrics({ host: metricsHost, port: metricsPort });
  return {
    metrics: started?.metrics,
    metricsPort: started?.server.port,
    tracing: tracing ? (await import('./tracing.ts')).createTracing() : undefined,
    readFrom: ({ usage, background }) =>
      started?.metrics.readFrom({
        pools: { requests: usage, background: background.usage },
        countDeliveries: () => countQueue(background.dbFor({ deadline: { left: scrapeMilliseconds } })),
        oldestEventSeconds: () =>
          findOldestPending(background.dbFor({ deadline: { left: scrapeMilliseconds } })),
      }),
    close: async () => started?.server.close(),
  };
}

async function startMetrics(address: { host: string; port: number }) {
  const { createMetrics, serveMetrics } = await import('./metrics.ts');
  const metrics = createMetrics(readBuild());
  const server = await serveMetrics(metrics, address).catch(refusePort(address));
  return { metrics, server };
}

/** Says why the port of metrics cannot be used. */
export const refusePort =
  ({ host, port }: { host: string; port: number }) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorFault(
      code === 'EADDRINUSE'
        ? `METRICS_PORT ${port} is taken. Choose another: METRICS_PORT=${port + 1}`
        : `METRICS_PORT ${port} on METRICS_HOST ${host} cannot be used (${code}).`,
    );
  };

/** The same check, which counts what it finds. */
export const countFaults = (check: ResponseCheck, note: Metrics['noteContractFault']): ResponseCheck => {
  const noted = (kind: 'answer' | 'event', fault: string | undefined) => {
    if (fault !== undefined) note(kind);
    return fault;
  };
  return {
    fault: (...given) => noted('answer', check.fault(...given)),
    eventFault: (name: EventName, payload) => noted('event', check.eventFault(name, payload)),
  };
};
