// The command `npm run diff` in a project folder: what it prints and the status it exits with.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs, promisify } from 'node:util';
import { ContractFault } from '../../server/kit/contract/load.ts';
import { bundle } from '../generate/bundle.ts';
import { lintContract } from '../lint/contract.ts';
import { count, messagesOf } from '../lint/report.ts';
import { compile } from '../lint/tool.ts';
import type { Json } from './change.ts';
import { compare } from './compare.ts';
import { findProblems } from './problems.ts';
import { asJson, asText, linesOf, type Outcome } from './report.ts';
import { asHtml, asMarkdown } from './review.ts';
import { writeVersion } from './versions.ts';

const releasedFile = 'openapi/released/openapi.json';
const committedFile = 'generated/openapi.json';

const help = `Compare the contract in openapi/ with the last released one, ${releasedFile}.

  npm run diff                        list the changes; fail if version or changelog do not announce them
  npm run diff -- --base main         list the changes since a branch, a commit or a file; the rules are about the released one
  npm run diff -- --html FILE         write it as a page for reviewers: the changes, what they affect, the text before and after
  npm run diff -- --markdown FILE     the same as Markdown, for a comment on a pull request; may be given beside --html
  npm run diff -- --json              print the result as JSON
  npm run diff -- --release           make the contract the released one, if it passes the lint, follows the rules and the code
                                      compiles for it, and write its version into package.json and the other files that
                                      repeat it; it then says what else belongs to a release

The rules: a breaking change needs a new major version in info.version, an addition a minor one, anything else a patch.
CHANGELOG.md needs a section for that version with at least one line below "### Contract"; for a breaking change, one of
these lines must begin with **Breaking**. They name each addition in a code span: an operation as GET /path, a filter, a
field, a status, an event, an error code; and each field that is now deprecated.

Exit code: 0 if the rules are followed, 1 if not, 2 for wrong options.`;

export interface Ended {
  status: number;
  output: string;
}

class UsageFault extends Error {}

export async function diff(args: string[], project: string, colour = false): Promise<Ended> {
  try {
    const options = optionsIn(args);
    if (options.help) return { status: 0, output: help };
    return await (options.release ? release(options, project, colour) : list(options, project, colour));
  } catch (error) {
    if (error instanceof UsageFault) return { status: 2, output: error.message };
    if (error instanceof ContractFault) return { status: 1, output: error.message };
    throw error;
  }
}

type Options = ReturnType<typeof optionsIn>;

function optionsIn(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const options = {
    base: text,
    html: text,
    markdown: text,
    json: flag,
    release: flag,
    help: flag,
  };
  try {
    const { values } = parseArgs({ args, options });
    if (values.release && [values.base, values.html, values.markdown].some((one) => one !== undefined))
      throw new Error('--release works with none of --base, --html and --markdown.');
    return values;
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

async function list(options: Options, project: string, colour: boolean): Promise<Ended> {
  const { base, html, markdown, json } = options;
  const after = await currentContract(project);
  const before = await readBase(base, project);
  const outcome = await outcomeOf(base, before, after, project);
  const status = outcome.problems.length === 0 ? 0 : 1;
  if (html !== undefined || markdown !== undefined) {
    const written = await writeReviews(options, outcome, before, after);
    const problems = outcome.problems.map(({ message }) => `\n✖ ${message}`);
    return { status, output: [...written, ...problems].join('\n') };
  }
  return { status, output: json ? asJson(outcome, false) : asText(outcome, colour) };
}

async function writeReviews(
  { html, markdown }: Options,
  outcome: Outcome,
  before: Json,
  after: Json,
): Promise<string[]> {
  const review = asMarkdown(outcome, before, after);
  if (markdown !== undefined) await writeFile(markdown, review);
  if (html !== undefined) await writeFile(html, asHtml(review));
  return [markdown, html].flatMap((file) => (file === undefined ? [] : `Wrote ${file}.`));
}

async function release({ json }: Options, project: string, colour: boolean): Promise<Ended> {
  await refuseFaultyRelease(project);
  const after = await currentContract(project);
  const before = await readBase(undefined, project);
  const outcome = await outcomeOf(undefined, before, after, project);
  const isFine = outcome.problems.length === 0;
  if (isFine) await refuseUncompiled(project, after);
  const isNew = outcome.changes.length > 0 || outcome.version !== outcome.baseVersion;
  const releases = isNew && isFine;
  const files = isFine ? await writeVersion(project, outcome.version) : [];
  if (releases) {
    files.unshift(releasedFile);
    await writeFile(join(project, releasedFile), `${JSON.stringify(after, null, 2)}\n`);
  }
  const status = isFine ? 0 : 1;
  if (json) return { status, output: asJson(outcome, releases) };
  const done = `Released ${outcome.version}: wrote ${files.join(', ')}.\n\n${afterRelease(outcome.version)}`;
  const not = isFine ? 'Nothing to release.' : 'Not released. Fix the problems above, then run it again.';
  return { status, output: `${asText(outcome, colour)}\n\n${files.length > 0 ? done : not}` };
}

/** The next version is tested with the data of this one. */
const afterRelease = (version: string): string =>
  `Commit it, then tag that commit:

  git tag -a v${version} -m ${version}

Then:
- as root, with Debian's postgresql-15: npx tsx test/fixtures/releases/make.ts ${version} v${version}
- add its facts.json to scripts/scan-committed-files.ts, and the digests of new migrations to test/unit/released-migrations.test.ts
- start the folder (.data) of a sandbox of each earlier release with ${version}, as root and as an ordinary user`;

/** Its faults are shown as `npm run lint -- --contract` shows them, because that says how to fix them. */
async function currentContract(project: string): Promise<Json> {
  try {
    return await bundle(join(project, 'openapi/openapi.yaml'), project);
  } catch (error) {
    if (!(error instanceof ContractFault)) throw error;
    const { problems } = await lintContract(project);
    const why = problems.length === 0 ? error.message : messagesOf(problems, project, false).join('\n\n');
    throw new ContractFault(`${why}\n\nNothing was compared. Fix the contract, then run: npm run diff`);
  }
}

/** Consumers build on a released contract, so it must keep the house rules. */
async function refuseFaultyRelease(project: string): Promise<void> {
  const { problems, unfinished } = await lintContract(project);
  const found = [...problems, ...unfinished];
  if (found.length === 0) return;
  const messages = [...messagesOf(found, project, false), `Not released: ${count(found.length)}`];
  throw new ContractFault(messages.join('\n\n'));
}

/** A service whose code does not compile for the contract would not keep it. */
async function refuseUncompiled(project: string, contract: Json): Promise<void> {
  const generated = await readFile(join(project, committedFile), 'utf8').catch(() => '{}');
  // As JSON: a key without a value is not written.
  const current: unknown = JSON.parse(JSON.stringify(contract));
  if (!isDeepStrictEqual(JSON.parse(generated), current))
    throw new ContractFault(
      'Not released: generated/ is older than openapi/, so the compiler does not know the contract as it is. Run: npm run generate, then release again.',
    );
  const { ok, output } = await compile(project);
  if (ok) return;
  throw new ContractFault(
    `${output}\n\nNot released: the code does not compile for this contract. Edit the files named above, then release again.`,
  );
}

async function readBase(base: string | undefined, project: string): Promise<Json> {
  if (base === undefined) return JSON.parse(await readFile(join(project, releasedFile), 'utf8')) as Json;
  if (existsSync(base)) return bundle(resolve(base), project);
  const found = base.startsWith('-') ? undefined : await readCommitted(base, project);
  if (!found)
    throw new UsageFault(`--base ${base} is neither a file nor a branch or commit with ${committedFile}.`);
  return found;
}

/** A contract of this project as a branch or a commit has it. */
async function readCommitted(revision: string, project: string): Promise<Json | undefined> {
  const options = { cwd: project, maxBuffer: 64_000_000 };
  const show = ['show', `${revision}:./${committedFile}`];
  const { stdout } = await promisify(execFile)('git', show, options).catch(() => ({ stdout: '' }));
  return stdout === '' ? undefined : (JSON.parse(stdout) as Json);
}

async function outcomeOf(
  base: string | undefined,
  before: Json,
  after: Json,
  project: string,
): Promise<Outcome> {
  const listed = await compared(before, after, project);
  if (base === undefined) return { base: releasedFile, ...listed };
  const name = existsSync(base) ? relative(project, resolve(base)) : base;
  // Version and changelog announce what changed since the last release, whatever the changes are listed against.
  const released = await compared(await readBase(undefined, project), after, project);
  return { base: name, ...listed, releasedVersion: released.baseVersion, problems: released.problems };
}

async function compared(before: Json, after: Json, project: string): Promise<Omit<Outcome, 'base'>> {
  const readChangelog = readFile(join(project, 'CHANGELOG.md'), 'utf8').catch(() => '');
  const versions = { baseVersion: versionOf(before), version: versionOf(after) };
  const changes = linesOf(await compare(before, after), before, after, project);
  const problems = findProblems({ changes, ...versions, changelog: await readChangelog });
  return { ...versions, changes, problems };
}

const versionOf = (contract: Json) => (contract.info as { version: string }).version;
