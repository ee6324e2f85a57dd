/**
 * Tests every house rule. Each fixture breaks a copy of the contract in one way. The rule must report it at the right line
 * and say how to fix it, and no other rule may report anything unless the fixture expects that.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lintCopies, swap, type Edits, type Problem } from '../support/contract-copy.ts';
import { builtin } from './house-rules.builtin.ts';
import { names } from './house-rules.names.ts';
import { operations } from './house-rules.operations.ts';
import { prose } from './house-rules.prose.ts';
import { responses } from './house-rules.responses.ts';
import { schemas } from './house-rules.schemas.ts';

export interface Fixture {
  rule: string;
  /** What is broken, in words. */
  broken: string;
  file: string;
  edit: (text: string) => string;
  /** Part of the line that the rule must point at. */
  at: string;
  /** Part of the message that says how to fix it. */
  says: string;
  /** The file that the rule must name, when it is not the one that was edited. */
  reported?: string;
  /** Edits of other files that the fixture needs. */
  plus?: Edits;
  /** Files that the rule must not name, because their fault follows from this one. */
  silent?: string[];
  /** Other rules that the same edit breaks; they may report it at any line. */
  also?: string[];
  /** It hides a part of the contract, so it cannot share a copy with others. */
  alone?: true;
}

const fixtures = [...operations, ...responses, ...names, ...schemas, ...prose, ...builtin];

interface Copy {
  fixtures: Fixture[];
  problems: Problem[];
}

const filesOf = ({ file, reported, plus }: Fixture) => [file, reported ?? file, ...Object.keys(plus ?? {})];
const rulesOf = ({ rule, also = [] }: Fixture) => [rule, ...also];

const clash = (one: Fixture, other: Fixture) =>
  (one.alone ?? other.alone ?? false) ||
  filesOf(one).some((file) => filesOf(other).includes(file)) ||
  rulesOf(one).includes(other.rule) ||
  rulesOf(other).includes(one.rule);

/** Fixtures share a copy when every problem still has one owner: a dozen copies to lint instead of a hundred. */
function pack(all: Fixture[]): Copy[] {
  const packed: Copy[] = [];
  for (const fixture of all) {
    const home = packed.find((copy) => !copy.fixtures.some((other) => clash(fixture, other)));
    if (home) home.fixtures.push(fixture);
    else packed.push({ fixtures: [fixture], problems: [] });
  }
  return packed;
}

const copies = pack(fixtures);

/** The same contract written in other valid ways. */
const variations: Edits = {
  'paths/transactions.yaml': swap(
    /'200':\n[\s\S]*(?= {4}'400')/u,
    "'200':\n      $ref: ../components/responses/Page.yaml\n",
  ),
  'components/responses/Page.yaml': () => `description: A page.
headers: {X-Request-ID: {$ref: ../headers/RequestId.yaml}}
content:
  application/json:
    schema: {$ref: ../schemas/TransactionCollection.yaml}
    examples:
      first_page: {$ref: ../examples/TransactionsFirstPage.yaml}
      last_page: {$ref: ../examples/TransactionsLastPage.yaml}
      none_found: {$ref: ../examples/TransactionsNoneFound.yaml}
`,
  'paths/api-key-pairs.yaml': (text) => {
    const [parameters = ''] = / {2}parameters:\n(?: {4}- .*\n)+/u.exec(text) ?? [];
    return parameters.replaceAll(/^ {2}/gmu, '') + text.replace(parameters, '');
  },
  'components/schemas/Role.yaml': swap(/type:\n.*\n.*\n {4}const: role/u, 'type:\n    $ref: ./RoleType.yaml'),
  'components/schemas/RoleType.yaml': () => 'description: Always `role`.\ntype: string\nconst: role\n',
};
let untouched: Problem[] | undefined;
let varied: Problem[] | undefined;

beforeAll(async () => {
  const edits = copies.map((copy) =>
    Object.fromEntries(
      copy.fixtures.flatMap(({ file, edit, plus = {} }) => [[file, edit], ...Object.entries(plus)]),
    ),
  );
  const [first, second, ...broken] = await lintCopies([{}, variations, ...edits]);
  [untouched, varied] = [first, second];
  copies.forEach((copy, index) => {
    copy.problems = broken[index] ?? [];
  });
}, 120_000);

describe.each([...new Set(fixtures.map(({ rule }) => rule))])('%s', (rule) => {
  it.each(fixtures.filter((fixture) => fixture.rule === rule))('catches $broken', (fixture) => {
    const copy = copies.find((one) => one.fixtures.includes(fixture));
    const problems = copy?.problems.filter((problem) => problem.rule === rule) ?? [];
    const { at, says, reported = fixture.file, silent = [] } = fixture;
    expect(problems.map(({ file, line, text, message }) => ({ file, line, text, message }))).toContainEqual({
      file: reported,
      line: expect.any(Number) as number,
      text: expect.stringContaining(at) as string,
      message: expect.stringContaining(says) as string,
    });
    // Other problems that the rule reports must be in the files of this fixture and have a line.
    expect(problems.filter(({ file }) => !filesOf(fixture).includes(file))).toEqual([]);
    expect(problems.filter(({ file, line }) => line < 1 || silent.includes(file))).toEqual([]);
  });
});

it('accepts the contract, and the same contract written in other ways', () => {
  expect(untouched).toEqual([]);
  expect(varied).toEqual([]);
});

it('reports nothing else', () => {
  const stray = copies.flatMap((copy) => {
    const expected = new Set(copy.fixtures.flatMap(rulesOf));
    return copy.problems.filter(({ rule }) => !expected.has(rule));
  });
  expect(stray).toEqual([]);
});

it('tests every rule of our own', () => {
  const { rules } = parse(readFileSync('redocly.yaml', 'utf8')) as { rules: Record<string, unknown> };
  const ours = Object.keys(rules).filter((rule) => /^(house|rule)\//u.test(rule));
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((rule) => !fixtures.some((fixture) => fixture.rule === rule))).toEqual([]);
});
