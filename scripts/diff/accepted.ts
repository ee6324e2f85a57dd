// Reads openapi/released/accepted.yaml: changes that the rules count as breaking although they refuse nothing that ever
// worked. Each was reviewed, and names the test that proves it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse, YAMLParseError } from 'yaml';
import { root } from '../support/root.ts';
import { ContractFault } from './compare.ts';
import { compareVersions, parseVersion, type Problem } from './judge.ts';
import type { Line } from './report.ts';

export const acceptedFile = 'openapi/released/accepted.yaml';

export interface Accepted {
  /** As the report prints it: `openapi/components/schemas/CardType.yaml#/enum`. */
  pointer: string | string[];
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
  return Object.entries(parseFile(text)).flatMap(([version, entries]) => {
    const [one, other] = [parseVersion(version), parseVersion(baseVersion)];
    // The version rules report a base version that is malformed.
    return !one || !other || compareVersions(one, other) > 0 ? entries : [];
  });
}

function parseFile(text: string): Record<string, Accepted[]> {
  const malformed = (fault: string) =>
    new ContractFault(`${acceptedFile} cannot be read: ${fault}. Write it like this:\n\n${shape}`);
  try {
    const versions: unknown = parse(text) ?? {};
    // The schema that editors use.
    const schema = JSON.parse(readFileSync(join(root, '.vscode/schemas/accepted.json'), 'utf8')) as object;
    const ajv = new Ajv({ strictSchema: false, verbose: true });
    if (ajv.validate<Record<string, Accepted[]>>(schema, versions)) return versions;
    const [fault] = ajv.errors ?? [];
    const { additionalProperty: unknown } = (fault?.params ?? {}) as { additionalProperty?: string };
    const name = unknown === undefined ? '' : `: ${unknown}`;
    throw malformed(`${fault?.instancePath || 'it'} ${fault?.message ?? ''}${name}`);
  } catch (error) {
    if (error instanceof YAMLParseError) throw malformed(error.message);
    throw error;
  }
}

/** Rates accepted changes like a patch, and reports entries that accept nothing or whose test does not exist. */
export function acceptChanges(
  lines: Line[],
  entries: Accepted[],
  project: string,
): { changes: Line[]; problems: Problem[] } {
  const changes = lines.map((line) => {
    const entry = entries.find(({ pointer }) => [pointer].flat().includes(line.where));
    if (!entry || line.rating !== 'breaking') return line;
    return { ...line, rating: 'other' as const, accepted: { reason: entry.reason.trim(), test: entry.test } };
  });
  const used = new Set(changes.filter(({ accepted }) => accepted).map(({ where }) => where));
  const faults = entries.flatMap(({ pointer, test }) => [
    ...[pointer]
      .flat()
      .filter((place) => !used.has(place))
      .map(
        (place) =>
          `nothing breaks at ${place}. Copy the place of the breaking change from this report, or remove the entry.`,
      ),
    ...(isTest(test, project)
      ? []
      : [
          `there is no test "${test}". Write FILE > TITLE, with the title as it is in the file, or write that test.`,
        ]),
  ]);
  const problems = faults.map((fault) => ({
    rule: 'accepted' as const,
    message: `${acceptedFile}: ${fault}`,
  }));
  return { changes, problems };
}

function isTest(name: string, project: string): boolean {
  const [file = '', title = ''] = name.split(/ > (.*)/s, 2);
  const path = join(project, file);
  if (!/^test\/.+\.test\.ts$/.test(file) || title.trim() === '' || !existsSync(path)) return false;
  return readFileSync(path, 'utf8').includes(title);
}
