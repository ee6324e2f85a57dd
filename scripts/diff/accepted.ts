// Reads openapi/released/accepted.yaml: changes that the rules count as breaking although they refuse nothing that ever
// worked. Each was reviewed, and names the test that proves it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { isObject } from './change.ts';
import { ContractFault } from './compare.ts';
import { compareVersions, parseVersion, type Problem } from './judge.ts';
import type { Line } from './report.ts';

export const acceptedFile = 'openapi/released/accepted.yaml';

export interface Accepted {
  /** The version that makes these changes. */
  version: string;
  /** As the report prints them: `openapi/components/schemas/CardType.yaml#/enum`. */
  pointers: string[];
  reason: string;
  /** The file and the title of the test, separated by ` > `. */
  test: string;
}

const shape = `  1.1.0:
    - pointer: openapi/components/schemas/CardType.yaml#/pattern
      reason: Why no request that worked is refused now.
      test: test/unit/card-types.test.ts > the title of the test that proves it`;

/** The entries of versions after `baseVersion`. Those of earlier versions are history. */
export function readAccepted(text: string, baseVersion: string): Accepted[] {
  const versions = parseYaml(text) ?? {};
  if (!isObject(versions)) throw malformed('It must map versions to lists of entries');
  return Object.entries(versions).flatMap(([version, entries]) => {
    if (!parseVersion(version)) throw malformed(`"${version}" is not a version`);
    if (!Array.isArray(entries)) throw malformed(`${version} must have a list of entries`);
    const read = entries.map((entry, index) => entryOf(version, index + 1, entry));
    return isAfter(version, baseVersion) ? read : [];
  });
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof YAMLParseError) throw malformed(error.message);
    throw error;
  }
}

function entryOf(version: string, number: number, entry: unknown): Accepted {
  const { pointer, reason, test, ...others } = isObject(entry) ? entry : {};
  const pointers = [pointer].flat();
  const [unknown] = Object.keys(others);
  const fault =
    (!pointers.every(isText) || pointers.length === 0 ? '`pointer` is missing' : undefined) ??
    (isText(reason) ? undefined : '`reason` is missing') ??
    (isText(test) ? undefined : '`test` is missing') ??
    (unknown === undefined ? undefined : `\`${unknown}\` is not known`);
  if (fault !== undefined) throw malformed(`Entry ${number} of ${version}: ${fault}`);
  return { version, pointers: pointers as string[], reason: String(reason).trim(), test: String(test) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const malformed = (fault: string) =>
  new ContractFault(`${acceptedFile} cannot be read. ${fault}. Write it like this:\n\n${shape}`);

function isAfter(version: string, baseVersion: string): boolean {
  const [one, other] = [parseVersion(version), parseVersion(baseVersion)];
  // The version rules report a base version that is malformed.
  return !one || !other || compareVersions(one, other) > 0;
}

/** Rates accepted changes like a patch, and reports entries that accept nothing or whose test does not exist. */
export function acceptChanges(
  lines: Line[],
  entries: Accepted[],
  root: string,
): { changes: Line[]; problems: Problem[] } {
  const changes = lines.map((line) => {
    const entry = entries.find(({ pointers }) => pointers.includes(line.where));
    if (!entry || line.rating !== 'breaking') return line;
    return { ...line, rating: 'other' as const, accepted: { reason: entry.reason, test: entry.test } };
  });
  const used = new Set(changes.filter(({ accepted }) => accepted).map(({ where }) => where));
  const problem = (message: string): Problem => ({
    rule: 'accepted',
    message: `${acceptedFile}: ${message}`,
  });
  const problems = entries.flatMap(({ pointers, test }) => [
    ...pointers
      .filter((pointer) => !used.has(pointer))
      .map((pointer) =>
        problem(
          `nothing breaks at ${pointer}. Copy the place of the breaking change from this report, or remove the entry.`,
        ),
      ),
    ...(isTest(test, root)
      ? []
      : [
          problem(
            `there is no test "${test}". Write FILE > TITLE, with the title as it is in the file, or write that test.`,
          ),
        ]),
  ]);
  return { changes, problems };
}

function isTest(name: string, root: string): boolean {
  const [file = '', title = ''] = name.split(/ > (.*)/s, 2);
  const path = join(root, file);
  if (!/^test\/.+\.test\.ts$/.test(file) || title.trim() === '' || !existsSync(path)) return false;
  return readFileSync(path, 'utf8').includes(title);
}
