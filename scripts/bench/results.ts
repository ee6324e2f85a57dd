// What a run found. `--json` prints it, the report and the chart are made of it.
import type { Spread } from './statistics.ts';
import type { SubjectName } from './subjects.ts';

export interface Measured {
  subject: SubjectName;
  perSecond: Spread;
  /** Milliseconds of CPU per request; only on Linux. */
  cpu?: { node: Spread; database: Spread; sum: Spread };
  /** Milliseconds. */
  p50: Spread;
  p99: Spread;
  /** Under load; only on Linux. */
  megabytes?: number;
  bytes: number;
}

export interface MeasuredCase {
  name: string;
  title: string;
  subjects: Measured[];
}

export interface StartTime {
  name: string;
  title: string;
  milliseconds: Spread;
}

export interface WebhookTimes {
  /** Deliveries a second of a backlog to one receiver. */
  deliveries: Spread;
  /** Signed requests a second, one after another, to the same receiver. */
  bareLoop: Spread;
  /** Milliseconds from the answer of the call to the arrival of its event, nothing else going on. */
  alone: Spread;
}

export interface GrowthTimes {
  rows: number;
  /** Milliseconds of one request, the median of several, by what was asked for. */
  pages: Record<'first' | 'middle' | 'last', number>;
  filters: Record<string, number>;
  pairs: Record<string, number>;
  /** The same filters in an account that has none of those rows. */
  elsewhere: Record<string, number>;
}

export interface ImportTimes {
  rows: number;
  /** Rows a second. */
  insertSelect: Spread;
  seed: Spread;
  import: Spread;
  /** The most memory that the import took; only on Linux. */
  importMegabytes?: number;
}

export interface Results {
  machine: string;
  versions: string;
  command: string;
  date: string;
  rounds: number;
  seconds: number;
  transactions: number;
  notes: string[];
  cases: MeasuredCase[];
  starts?: StartTime[];
  webhooks?: WebhookTimes;
  growth?: GrowthTimes[];
  import?: ImportTimes;
  /** Tables of numbers that have no goal. */
  json?: Record<string, string | number>[];
  hostile?: Record<string, string | number>[];
  deliveries?: Record<string, string | number>[];
}
