// openapi/released/accepted.yaml: what an entry does, and every way in which one is wrong. diff.test.ts runs the command.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptChanges, acceptedFile, readAccepted, type Accepted } from '../../scripts/diff/accepted.ts';
import { judge } from '../../scripts/diff/judge.ts';
import { asJson, asText, type Line } from '../../scripts/diff/report.ts';
import { root } from '../../scripts/support/root.ts';

const where = 'openapi/components/schemas/CardType.yaml#/pattern';
const line = (rating: Line['rating'], place = where): Line => ({
  rating,
  place: 'schema CardType',
  usedBy: [],
  what: 'it changed',
  names: [],
  where: place,
});
const thisFile = 'test/tools/accepted-changes.test.ts';
const test = `${thisFile} > counts as a patch`;
const entry = (change: Partial<Accepted> = {}): Accepted => ({
  pointer: where,
  reason: 'It never worked.',
  test,
  ...change,
});

describe('an entry', () => {
  it('counts as a patch, is printed with its reason and test, and covers no other change', () => {
    const lines = [line('breaking'), line('breaking', `${where}/x`), line('addition', 'other.yaml#/')];
    const { changes, problems } = acceptChanges(lines, [entry()], root);
    expect(problems).toEqual([]);
    expect(changes.map(({ rating }) => rating)).toEqual(['other', 'breaking', 'addition']);
    const outcome = {
      base: 'old.json',
      baseVersion: '1.0.0',
      version: '1.1.0',
      changes,
      affected: [],
      problems,
    };
    const text = asText(outcome, false);
    expect(text).toMatch(
      /^Accepted \(1\)\n {2}≈ schema CardType: .*\n.*\n {6}It never worked\.\n {6}test\//m,
    );
    expect(text).toContain('1 breaking, 1 addition, 1 accepted, 0 other');
    expect(JSON.parse(asJson(outcome, false))).toMatchObject({
      counts: { breaking: 1, additions: 1, accepted: 1, other: 0 },
    });
  });

  it('alone needs a patch version and a line in the changelog', () => {
    const { changes } = acceptChanges([line('breaking')], [entry()], root);
    const changelog = '## 1.0.1\n\n### Contract\n\n- Narrower.\n';
    const judged = (version: string) => judge({ changes, baseVersion: '1.0.0', version, changelog });
    expect(judged('1.0.1')).toEqual([]);
    expect(judged('1.0.0').map(({ rule }) => rule)).toEqual(['version']);
  });

  it.each([
    ['matches no change', [], `nothing breaks at ${where}.`],
    ['matches a change that does not break', [line('addition')], `nothing breaks at ${where}.`],
  ])('that %s is an error with advice', (_name, lines, message) => {
    const { problems } = acceptChanges(lines, [entry()], root);
    expect(problems).toEqual([{ rule: 'accepted', message: expect.stringContaining(message) as string }]);
    expect(problems[0]?.message).toContain('or remove the entry');
  });

  it.each([
    ['a file that does not exist', 'test/contract/nowhere.test.ts > counts as a patch'],
    ['a title that does not exist', `${thisFile} > ${['there', 'is', 'no', 'such'].join(' ')}`],
    ['no title', thisFile],
    ['a file that is not a test', 'package.json > name'],
  ])('that names %s is an error with advice', (_name, wrong) => {
    const { problems } = acceptChanges([line('breaking')], [entry({ test: wrong })], root);
    expect(problems).toEqual([
      { rule: 'accepted', message: expect.stringContaining('Write FILE > TITLE') as string },
    ]);
  });
});

describe('the file', () => {
  const yaml = `1.0.0:
  - pointer: a.yaml#/x
    reason: Old.
    test: ${test}
1.1.0:
  - pointer: [b.yaml#/x, c.yaml#/x]
    reason: New.
    test: ${test}
`;

  it('holds for versions after the base; the others are a record', () => {
    const read = (base: string) => readAccepted(yaml, base).map(({ pointer }) => pointer);
    expect(read('1.0.0')).toEqual([['b.yaml#/x', 'c.yaml#/x']]);
    expect(read('0.9.0')).toEqual(['a.yaml#/x', ['b.yaml#/x', 'c.yaml#/x']]);
    expect(read('1.1.0')).toEqual([]);
  });

  it('may be missing or empty', () => {
    expect(readAccepted('', '1.0.0')).toEqual([]);
    expect(readAccepted('# Nothing.\n', '1.0.0')).toEqual([]);
  });

  it.each([
    ['no YAML', '1.1.0: [', 'cannot be read'],
    ['a list', '- pointer: x', 'it must be object'],
    ['a key that is no version', 'next: []', 'must NOT have additional properties: next'],
    ['no list', '1.1.0: x', '/1.1.0 must be array'],
    ['no pointer', '1.1.0: [{reason: r, test: t}]', "/1.1.0/0 must have required property 'pointer'"],
    ['an empty list of pointers', '1.1.0: [{pointer: [], reason: r, test: t}]', '/1.1.0/0/pointer'],
    ['no reason', '1.1.0: [{pointer: p, reason: " ", test: t}]', '/1.1.0/0/reason must match pattern'],
    ['no test', '1.1.0: [{pointer: p, reason: r}]', "must have required property 'test'"],
    ['a key that is not known', '1.1.0: [{pointer: p, reason: r, test: t, tets: t}]', 'properties: tets'],
  ])('with %s is refused, and the message shows how to write it', (_name, text, message) => {
    expect(() => readAccepted(text, '1.0.0')).toThrow(message);
    expect(() => readAccepted(text, '1.0.0')).toThrow('- pointer: openapi/components/schemas/');
  });

  it('of this contract can be read', () => {
    expect(() => readAccepted(readFileSync(join(root, acceptedFile), 'utf8'), '0.0.0')).not.toThrow();
  });
});
