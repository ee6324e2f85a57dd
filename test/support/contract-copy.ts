/** Creates copies of the contract to break on purpose, in a temporary folder with everything that linting needs. */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { redocly } from '../../scripts/support/redocly.ts';
import { root } from '../../scripts/support/root.ts';

/** What to change, by path within openapi/. A file that does not exist starts empty. */
export type Edits = Record<string, (text: string) => string>;

export interface Problem {
  rule: string;
  message: string;
  /** Within openapi/. */
  file: string;
  line: number;
  /** The line itself. */
  text: string;
}

/** A folder with the toolchain. It is removed by `await using` or `[Symbol.asyncDispose]()`. */
export interface Workspace extends AsyncDisposable {
  folder: string;
}

async function workspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-copy-'));
  for (const part of ['redocly.yaml', 'package.json', 'scripts']) {
    await cp(join(root, part), join(folder, part), { recursive: true });
  }
  for (const part of ['scripts', 'server/domain/edit-distance.js'])
    await cp(join(inject('compiled'), part), join(folder, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function copyContract(to: string, edits: Edits): Promise<void> {
  await cp(join(root, 'openapi'), to, { recursive: true });
  for (const [path, edit] of Object.entries(edits)) {
    const file = join(to, path);
    const before = await readFile(file, 'utf8').catch(() => '');
    const after = edit(before);
    if (after === before) throw new Error(`The edit of ${path} changes nothing. Has the contract moved on?`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, after);
  }
}

/** A copy of the project with a contract changed by `edits`, to run its commands. */
export async function brokenProject(edits: Edits): Promise<Workspace> {
  const made = await workspace();
  await copyContract(join(made.folder, 'openapi'), edits);
  return made;
}

/** Lints one copy per element, all in one process: starting Redocly costs more than linting a contract. */
export async function lintCopies(copies: Edits[]): Promise<Problem[][]> {
  await using made = await workspace();
  const { folder } = made;
  await Promise.all(copies.map((edits, index) => copyContract(join(folder, `copy-${index}`), edits)));
  const roots = copies.map((_, index) => `copy-${index}/openapi.yaml`);
  const run = await redocly(['lint', ...roots, '--format=json', '--max-problems=1000'], { cwd: folder });
  // Redocly prints one report per contract, one after the other.
  const reports = run.stdout.split(/(?<=^\})(?=\{)/mu).filter((report) => report.trim() !== '');
  if (reports.length !== copies.length) throw new Error(`Redocly stopped:\n${run.stderr}`);
  return await Promise.all(reports.map((report) => readReport(report, folder)));
}

interface Report {
  problems: {
    ruleId: string;
    message: string;
    location: { source: { ref: string }; start?: { line: number } }[];
  }[];
}

function readReport(report: string, folder: string): Promise<Problem[]> {
  const { problems } = JSON.parse(report) as Report;
  return Promise.all(
    problems.map(async ({ ruleId, message, location: [place] }) => {
      const ref = place?.source.ref ?? '';
      const line = place?.start?.line ?? 0;
      const lines = (await readFile(join(folder, ref), 'utf8')).split('\n');
      return {
        rule: ruleId,
        message,
        file: ref.replace(/^copy-\d+\//u, ''),
        line,
        text: lines[line - 1] ?? '',
      };
    }),
  );
}

/** Replaces the first `from`. Throws if there is none, so that an outdated fixture is noticed. */
export const swap = (from: string | RegExp, to: string) => (text: string) => {
  const found = typeof from === 'string' ? text.includes(from) : from.test(text);
  if (!found) throw new Error(`Nothing to replace: ${String(from)}`);
  return text.replace(from, () => to);
};

export const cut = (from: string | RegExp) => swap(from, '');

export const add = (more: string) => (text: string) => `${text}${more}`;
