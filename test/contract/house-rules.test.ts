/**
 * Every house rule catches what it is there for. Each fixture breaks a copy of the contract in one way; the rule must say so
 * at the right line, in words that tell how to mend it, and no other rule may complain without being expected to.
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
  /** Part of the message: how to mend it. */
  says: string;
  /** The file that the rule must name, when it is not the one that was edited. */
  reported?: string;
  /** Further files that the break needs. */
  plus?: Edits;
  /** Rules that are broken by the same edit, and may say so anywhere. */
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

/** What the contract says now, said in other ways that are as good. */
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
    const { at, says, reported = fixture.file } = fixture;
    expect(problems.map(({ file, line, text, message }) => ({ file, line, text, message }))).toContainEqual({
      file: reported,
      line: expect.any(Number) as number,
      text: expect.stringContaining(at) as string,
      message: expect.stringContaining(says) as string,
    });
    // Whatever else the rule says must be about the files of this fixture, and point at a line of them.
    expect(problems.filter(({ file }) => !filesOf(fixture).includes(file))).toEqual([]);
    expect(problems.filter(({ line }) => line < 1)).toEqual([]);
  });
});

it('accepts the contract as it is, and said in other words', () => {
  expect(untouched).toEqual([]);
  expect(varied).toEqual([]);
});

it('complains of nothing else', () => {
  const stray = copies.flatMap((copy) => {
    const expected = new Set(copy.fixtures.flatMap(rulesOf));
    return copy.problems.filter(({ rule }) => !expected.has(rule));
  });
  expect(stray).toEqual([]);
});

it('proves every rule that is ours', () => {
  const { rules } = parse(readFileSync('redocly.yaml', 'utf8')) as { rules: Record<string, unknown> };
  const ours = Object.keys(rules).filter((rule) => /^(house|rule)\//u.test(rule));
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((rule) => !fixtures.some((fixture) => fixture.rule === rule))).toEqual([]);
});
