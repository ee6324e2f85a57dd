// Numbers for Prometheus. Only this folder uses prom-client, and nothing is counted unless METRICS_PORT is set. Labels have few
// values, all of them ours: operation IDs, statuses, names of pools. Every metric is explained in docs/operating.md.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { programName } from '../../../generated/operations.ts';
import type { Db } from '../database/database.ts';
import type { OpenedDatabase } from '../database/open.ts';
import type { Attempt } from '../events/attempts.ts';
import type { Build } from '../installation.ts';
import { readSecondsAhead } from './clock.ts';
import type { AllFacts, TableGauge } from './facts.ts';

/** Of every name. */
const prefix = `${programName.replaceAll('-', '_')}_`;

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const outcomes = { succeeded: 'succeeded', pending: 'retried', failed: 'given_up' };

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(build: Build) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: prefix + name, help, labelNames, registers });
  const requests = counter('requests_total', 'Requests by operation and status', 'operation', 'status');
  const limited = counter('requests_limited_total', 'Requests that were refused with 429', 'operation');
  const attempts = counter('webhook_attempts_total', 'Attempts to deliver an event, by outcome', 'outcome');
  const faults = counter(
    'contract_faults_total',
    'Answers and events of this service that broke the contract, and were not sent',
    'kind',
  );
  const durations = new Histogram({
    name: `${prefix}request_duration_seconds`,
    help: 'Time from the start of a request to the end of its answer',
    labelNames: ['operation'],
    buckets: seconds,
    registers,
  });
  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the labels tell what this instance was built from',
    labelNames: ['version', 'revision'],
    registers,
  }).set({ revision: '', ...build }, 1);
  // From the start, so that the first one is an increase.
  for (const kind of ['answer', 'event']) faults.inc({ kind }, 0);
  for (const outcome of Object.values(outcomes)) attempts.inc({ outcome }, 0);
  return {
    registry,
    noteRequest: (operation = 'none', status: number | string, milliseconds: number) => {
      requests.inc({ operation, status });
      durations.observe({ operation }, milliseconds / 1000);
      if (status === 429) limited.inc({ operation });
    },
    noteAttempt: (state: Attempt['state']) => {
      attempts.inc({ outcome: outcomes[state] });
    },
    counter,
    noteContractFault: (kind: 'answer' | 'event') => {
      faults.inc({ kind });
    },
  };
}

/** A scrape has 10 s by default, and the other metrics matter most while the database does not answer. */
const scrapeMilliseconds = 2_000;

export function addGauges(
  registry: Registry,
  database: OpenedDatabase,
  facts: AllFacts,
  here: () => Date,
): void {
  const { usage, background } = database;
  const registers = [registry];
  const poolGauge = (name: string, help: string, key: 'most' | 'inUse' | 'waiting') =>
    new Gauge({
      name: `${prefix}database_connections_${name}`,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        this.set({ pool: 'requests' }, usage()[key]);
        this.set({ pool: 'background' }, background.usage()[key]);
      },
    });
  poolGauge('in_use', 'Connections to the database that are in use', 'inUse');
  poolGauge('most', 'Connections that a pool may have', 'most');
  poolGauge('waiting', 'Callers that wait for a connection', 'waiting');
  const scrapeDb = () => background.dbFor({ deadline: { left: scrapeMilliseconds } });
  for (const { gauges } of Object.values(facts))
    if (gauges !== 'none') for (const gauge of gauges) addGauge(registers, scrapeDb, gauge);
  addGauge(registers, scrapeDb, {
    name: 'clock_ahead_seconds',
    help: 'How far the clock of this instance is ahead of the one of the database; negative if it is behind',
    read: (db) => readSecondsAhead(db, here),
  });
}

function addGauge(registers: Registry[], scrapeDb: () => Db, { name, help, label, read }: TableGauge): void {
  new Gauge({
    name: prefix + name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers,
    async collect() {
      // Without the database there is no value; the other metrics are needed all the more.
      if (label === undefined) this.remove();
      else this.reset();
      const value = await read(scrapeDb()).catch(() => ({}));
      if (typeof value === 'number') this.set(value);
      else for (const [one, count] of Object.entries(value)) this.set({ [label ?? '']: one }, count);
    },
  });
}

/**
 * Serves the metrics on a port of their own, because they are for operators and have no token. Health is there too: callers
 * cannot use up the connections of this port.
 */
export async function serveMetrics(registry: Registry, { host, port }: { host: string; port: number }) {
  const server = createServer((req, res) => {
    if (req.method !== 'GET') res.writeHead(404).end();
    else if (req.url === '/healthz')
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok"}');
    else if (req.url !== '/metrics') res.writeHead(404).end();
    else
      registry.metrics().then(
        (body) => res.writeHead(200, { 'Content-Type': registry.contentType }).end(body),
        () => res.writeHead(500).end(),
      );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
