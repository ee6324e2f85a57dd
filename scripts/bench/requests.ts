// The cases that are requests: one service, one table, every subject beside it.
import { createCases, recordedCalls } from './cases.ts';
import { measureCase } from './measure.ts';
import type { Load, Loaded } from './peers/loader.ts';
import { installPackages } from './packages.ts';
import { startPeer, type Programs } from './programs.ts';
import type { MeasuredCase } from './results.ts';
import { startService, type BenchedService } from './service.ts';
import { startSubject, type Running, type SubjectName } from './subjects.ts';
import { openMeter } from './usage.ts';

export const caseNames = [
  ...['page', 'cursor', 'filter', 'schemes', 'cards', 'balances', 'unauthorized', 'invalid'],
  ...['mock-schemes', 'mock-cards'],
];

export interface RequestOptions {
  cases: readonly string[];
  subjects: readonly SubjectName[];
  rounds: number;
  seconds: number;
  transactions: number;
  /** How many different cursors to collect at most. */
  places: number;
  progress: (text: string) => void;
}

export async function benchRequests(
  programs: Programs,
  options: RequestOptions,
): Promise<{ cases: MeasuredCase[]; notes: string[] }> {
  const { progress, transactions } = options;
  const notes: string[] = [];
  let subjects = options.subjects;
  if (subjects.some((name) => name.startsWith('fastify'))) {
    progress('Installing packages for the comparison');
    const fault = installPackages(programs.packages);
    if (fault !== undefined) {
      notes.push(`Without Fastify: ${fault}`);
      subjects = subjects.filter((name) => !name.startsWith('fastify'));
    }
  }
  progress('Starting the service');
  // The deliveries of the cards that are stored here are not part of what is compared; `webhooks` measures them.
  await using service = await startService(programs, { WEBHOOK_WORKER: 'off' });
  progress(`Seeding ${transactions} transactions`);
  await service.payments('seed', '--transactions', String(transactions));
  // Without a subscription a new card would cause neither delivery nor job. Port 9 discards.
  await call(service, 'POST', '/webhook-subscriptions', JSON.stringify({ url: 'http://127.0.0.1:9/' }));
  const answers: Record<string, unknown> = {};
  for (const { method, path, body } of recordedCalls)
    answers[`${method} ${path.split('?')[0] ?? path}`] = await call(service, method, path, body);

  const running = new Map<SubjectName, Promise<Running>>();
  await using _stop = {
    async [Symbol.asyncDispose]() {
      for (const subject of running.values()) await (await subject)[Symbol.asyncDispose]();
    },
  };
  await using loader = startPeer<Load, Loaded>(programs.peer('loader'));
  await using meter = openMeter(service.databaseUrl);
  const instruments = {
    ...{ loader, meter, token: service.token, rounds: options.rounds, seconds: options.seconds, progress },
    running: (name: SubjectName) => {
      const known = running.get(name) ?? startSubject(name, { programs, service, answers });
      running.set(name, known);
      return known;
    },
  };
  const cases: MeasuredCase[] = [];
  const needsCursors = options.cases.includes('cursor') || options.cases.includes('filter');
  if (needsCursors) progress('Collecting cursors');
  for (const one of await createCases(service, needsCursors ? options.places : 0)) {
    const taking = one.subjects.filter((name) => subjects.includes(name));
    if (options.cases.includes(one.name) && taking.length > 0)
      cases.push(await measureCase(one, taking, instruments));
  }
  return { cases, notes };
}

async function call(
  { url, token }: BenchedService,
  method: string,
  path: string,
  body?: string,
): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
