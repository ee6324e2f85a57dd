// Metrics and traces, loaded only if they are on: others pay neither for the packages nor for counting.
import type { ResponseCheck } from '../contract/responses.ts';
import type { OpenedDatabase } from '../database/open.ts';
import { OperatorFault } from '../faults.ts';
import { readBuild } from '../installation.ts';
import type { AllFacts } from './facts.ts';
import type { Metrics } from './metrics.ts';

export type Observing = Awaited<ReturnType<typeof observe>>;

interface Observed {
  metricsHost: string;
  metricsPort: number | undefined;
  tracing: boolean;
}

export async function observe(
  { metricsHost: host, metricsPort: port, tracing }: Observed,
  database: OpenedDatabase,
  facts: AllFacts,
  here: () => Date,
) {
  const started = port === undefined ? undefined : await startMetrics({ host, port }, database, facts, here);
  return {
    metrics: started?.metrics,
    metricsPort: started?.server.port,
    tracing: tracing ? (await import('./tracing.ts')).createTracing() : undefined,
    close: async () => started?.server.close(),
  };
}

async function startMetrics(
  address: { host: string; port: number },
  database: OpenedDatabase,
  facts: AllFacts,
  here: () => Date,
) {
  const { addGauges, createMetrics, serveMetrics } = await import('./metrics.ts');
  const metrics = createMetrics(readBuild());
  addGauges(metrics.registry, database, facts, here);
  const server = await serveMetrics(metrics.registry, address).catch(refusePort(address));
  return { metrics, server };
}

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
    eventFault: (...given) => noted('event', check.eventFault(...given)),
  };
};
