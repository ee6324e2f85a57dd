// Measures the subjects of a case in interleaved rounds (A B C A B C …), so that whatever disturbs the machine for a while
// disturbs all of them.
import { isDeepStrictEqual } from 'node:util';
import type { Case } from './cases.ts';
import type { Load, Loaded } from './peers/loader.ts';
import type { Peer } from './programs.ts';
import type { Measured, MeasuredCase } from './results.ts';
import { median, spread } from './statistics.ts';
import { titleOf, type Running, type SubjectName } from './subjects.ts';
import { cpuSeconds, residentBytes, usedBetween, type Meter } from './usage.ts';

export const connections = 16;

export interface Instruments {
  loader: Peer<Load, Loaded>;
  meter: Meter;
  token: string;
  rounds: number;
  seconds: number;
  progress: (text: string) => void;
  running: (subject: SubjectName) => Promise<Running>;
}

interface Round extends Loaded {
  cpu: { node: number; database: number } | undefined;
  megabytes: number | undefined;
}

export async function measureCase(
  { name, title, status, calls, ...asked }: Case,
  subjects: readonly SubjectName[],
  { loader, meter, rounds, seconds, progress, running, ...given }: Instruments,
): Promise<MeasuredCase> {
  const headers = {
    Authorization: `Bearer ${asked.token ?? given.token}`,
    'Content-Type': 'application/json',
  };
  const sent = new Map<SubjectName, number>();
  const load = async (subject: SubjectName, forSeconds: number): Promise<Round> => {
    const { url, pid, applicationName } = await running(subject);
    const from = sent.get(subject) ?? 0;
    const backends = () => (applicationName === undefined ? new Map() : meter.backends(applicationName));
    const [nodeBefore, databaseBefore] = [cpuSeconds(pid), await backends()];
    const loaded = await loader.ask({
      ...{ url, headers, calls: calls(subject), from, status, connections },
      seconds: forSeconds,
    });
    const [nodeAfter, databaseAfter] = [cpuSeconds(pid), await backends()];
    sent.set(subject, from + loaded.requests);
    const resident = residentBytes(pid)?.now;
    return {
      ...loaded,
      cpu:
        nodeBefore === undefined || nodeAfter === undefined
          ? undefined
          : { node: nodeAfter - nodeBefore, database: usedBetween(databaseBefore, databaseAfter) },
      megabytes: resident === undefined ? undefined : resident / 1e6,
    };
  };

  progress(`${title}: starting the subjects`);
  await Promise.all(subjects.map(running));
  if (asked.isSameList) await requireSameItems(subjects, calls, running, headers);
  for (const subject of subjects) {
    progress(`${title}: warming up ${titleOf(subject)}`);
    // V8 compiles what runs often; a quick run must not compare that.
    await load(subject, Math.max(1, Math.min(seconds * rounds, 2)));
  }
  const found = new Map<SubjectName, Round[]>(subjects.map((subject) => [subject, []]));
  for (let round = 1; round <= rounds; round += 1)
    for (const subject of subjects) {
      progress(`${title}: round ${round} of ${rounds}, ${titleOf(subject)}`);
      found.get(subject)?.push(await load(subject, seconds));
    }
  return { name, title, subjects: [...found].map(([subject, all]) => summarize(subject, all)) };
}

function summarize(subject: SubjectName, rounds: readonly Round[]): Measured {
  const over = (value: (round: Round) => number) => spread(rounds.map(value));
  const perRequest = (of: (cpu: NonNullable<Round['cpu']>) => number) =>
    over(({ cpu, requests }) => (cpu ? (of(cpu) / requests) * 1000 : NaN));
  const hasCpu = rounds.every(({ cpu }) => cpu !== undefined);
  return {
    subject,
    perSecond: over(({ requests, seconds }) => requests / seconds),
    ...(hasCpu
      ? {
          cpu: {
            node: perRequest(({ node }) => node),
            database: perRequest(({ database }) => database),
            sum: perRequest(({ node, database }) => node + database),
          },
          megabytes: median(rounds.map(({ megabytes }) => megabytes ?? NaN)),
        }
      : {}),
    p50: over(({ p50 }) => p50),
    p99: over(({ p99 }) => p99),
    bytes: rounds.at(-1)?.bytes ?? 0,
  };
}

/** A subject that sends something else is faster or slower for no reason that matters here. */
async function requireSameItems(
  subjects: readonly SubjectName[],
  calls: Case['calls'],
  running: Instruments['running'],
  headers: Record<string, string>,
): Promise<void> {
  let first: unknown;
  for (const subject of subjects) {
    const path = calls(subject)[0]?.path ?? '';
    const response = await fetch((await running(subject)).url + path, { headers });
    const { items } = (await response.json()) as { items: unknown };
    first ??= items;
    if (!isDeepStrictEqual(items, first))
      throw new Error(
        `${titleOf(subject)} answers ${path} with other items than ${titleOf(subjects[0] ?? subject)}.`,
      );
  }
}
