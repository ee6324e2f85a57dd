// The goals, each computed from the results of one run. They are ratios wherever possible, because ratios hold on every machine.
import type { GrowthTimes, Measured, Results } from './results.ts';
import type { SubjectName } from './subjects.ts';

interface Goal {
  measure: string;
  limit: { most: number } | { least: number };
  unit?: 's' | 'ms' | 'MB';
  /** Undefined when the run did not measure it. */
  value: (results: Results) => number | undefined;
}

export interface JudgedGoal {
  measure: string;
  /** Such as `≤ 1.2`. */
  goal: string;
  value: string;
  verdict: 'met' | 'not met' | 'not measured';
}

const measured = (results: Results, name: string, subject: SubjectName): Measured | undefined =>
  results.cases.find((one) => one.name === name)?.subjects.find((one) => one.subject === subject);

/** Of one subject against another in the same case. */
const ratio =
  (name: string, [one, other]: [SubjectName, SubjectName], of: (measured: Measured) => number | undefined) =>
  (results: Results) =>
    divide(pick(measured(results, name, one), of), pick(measured(results, name, other), of));

const pick = <From>(from: From | undefined, of: (from: From) => number | undefined) => from && of(from);
const divide = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined || other === 0 ? undefined : one / other;

const perSecond = ({ perSecond: { median } }: Measured) => median;

const startOf = ({ starts }: Results, name: string) =>
  starts?.find((one) => one.name === name)?.milliseconds.median;
const seconds = (name: string) => (results: Results) => divide(startOf(results, name), 1000);

const largest = (growth: readonly GrowthTimes[]) => growth.toSorted((a, b) => b.rows - a.rows)[0];
const smallest = (growth: readonly GrowthTimes[]) => growth.toSorted((a, b) => a.rows - b.rows)[0];

function growthOfPages({ growth = [] }: Results): number | undefined {
  const [small, large] = [smallest(growth), largest(growth)];
  if (!small || !large || small === large) return undefined;
  return Math.max(
    ...(['first', 'middle', 'last'] as const).map((page) => large.pages[page] / small.pages[page]),
  );
}

function slowestFilter({ growth = [] }: Results): number | undefined {
  const large = largest(growth);
  if (!large) return undefined;
  const { filters, pairs, elsewhere, pages } = large;
  return Math.max(...[filters, pairs, elsewhere].flatMap((times) => Object.values(times))) / pages.first;
}

const goals: Goal[] = [
  {
    measure: 'Page of 20: CPU of Node per request, against the bare handler',
    limit: { most: 1 },
    value: ratio('page', ['ours', 'bare'], ({ cpu }) => cpu?.node.median),
  },
  {
    measure: 'Page of 20: CPU of Node and PostgreSQL per request, against the bare handler',
    limit: { most: 1.2 },
    value: ratio('page', ['ours', 'bare'], ({ cpu }) => cpu?.sum.median),
  },
  {
    measure: 'Page of 20: throughput against Fastify with the same checks',
    limit: { least: 1.2 },
    value: ratio('page', ['ours', 'fastify-checked'], perSecond),
  },
  {
    measure: 'Page of 20: throughput against express-openapi-validator, each token verified',
    limit: { least: 6 },
    value: ratio('page', ['ours', 'express-verified'], perSecond),
  },
  {
    measure: 'Page of 20: throughput against Prism',
    limit: { least: 2 },
    value: ratio('page', ['ours', 'prism'], perSecond),
  },
  {
    measure: 'Page of 20: throughput of our mock against Prism',
    limit: { least: 2 },
    value: ratio('page', ['mock', 'prism'], perSecond),
  },
  {
    measure: "Page of 20: memory (RSS) under load against Prism's",
    limit: { most: 1 },
    value: ratio('page', ['ours', 'prism'], ({ megabytes }) => megabytes),
  },
  {
    measure: '`POST /payment-methods`: throughput against a bare insert of the same rows',
    limit: { least: 0.6 },
    value: ratio('cards', ['ours', 'express'], perSecond),
  },
  {
    measure: 'Webhooks: deliveries a second against a bare loop of signed requests',
    limit: { least: 0.5 },
    value: ({ webhooks }) => divide(webhooks?.deliveries.median, webhooks?.bareLoop.median),
  },
  {
    measure: 'Webhooks: one event alone',
    limit: { most: 50 },
    unit: 'ms',
    value: ({ webhooks }) => webhooks?.alone.median,
  },
  {
    measure: 'Start: sandbox reopened, against Prism',
    limit: { most: 1 },
    value: (results) => divide(startOf(results, 'reopened'), startOf(results, 'prism')),
  },
  {
    measure: 'Start: our mock against Prism',
    limit: { most: 0.5 },
    value: (results) => divide(startOf(results, 'mock'), startOf(results, 'prism')),
  },
  { measure: 'Start: `payments token`', limit: { most: 0.3 }, unit: 's', value: seconds('token') },
  { measure: 'Start: `payments --help`', limit: { most: 0.3 }, unit: 's', value: seconds('help') },
  {
    measure: 'Growth: page in the largest table against the smallest, the worst of first, middle and last',
    limit: { most: 1.2 },
    value: growthOfPages,
  },
  {
    measure: 'Growth: the slowest filter in the largest table against no filter',
    limit: { most: 3 },
    value: slowestFilter,
  },
  {
    measure: 'Import: rows a second against `insert … select`',
    limit: { least: 0.85 },
    value: (results) => divide(results.import?.import.median, results.import?.insertSelect.median),
  },
  {
    measure: 'Seed: rows a second against `insert … select`',
    limit: { least: 0.85 },
    value: (results) => divide(results.import?.seed.median, results.import?.insertSelect.median),
  },
  {
    measure: 'Import: the most memory',
    limit: { most: 200 },
    unit: 'MB',
    value: (results) => results.import?.importMegabytes,
  },
];

export const judgeGoals = (results: Results): JudgedGoal[] =>
  goals.map(({ measure, limit, unit, value: of }) => {
    const value = of(results);
    const withUnit = (number: string) => (unit ? `${number} ${unit}` : number);
    const isMet = 'most' in limit ? (value ?? 0) <= limit.most : (value ?? 0) >= limit.least;
    return {
      measure,
      goal: withUnit('most' in limit ? `≤ ${limit.most}` : `≥ ${limit.least}`),
      value: value === undefined ? '' : withUnit(value >= 10 ? value.toFixed(0) : value.toFixed(2)),
      verdict: value === undefined ? 'not measured' : isMet ? 'met' : 'not met',
    };
  });
