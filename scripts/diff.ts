// `npm run diff`: what changed since the last released contract, what breaks consumers, and whether it was announced.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs, promisify } from 'node:util';
import { acceptChanges, acceptedFile, readAccepted } from './diff/accepted.ts';
import type { Json } from './diff/change.ts';
import { bundle, compare, ContractFault, readJson } from './diff/compare.ts';
import { bundleCurrent, refuseFaultyRelease } from './diff/current.ts';
import { judge } from './diff/judge.ts';
import { plural } from './diff/places.ts';
import { asJson, asText, linesOf, type Outcome } from './diff/report.ts';
import { asHtml } from './diff/review-html.ts';
import { asMarkdown } from './diff/review-markdown.ts';
import { reviewOf } from './diff/review.ts';
import { root } from './support/root.ts';

const released = join(root, 'openapi/released/openapi.json');

const help = `Compare the contract in openapi/ with the last released one, openapi/released/openapi.json.

  npm run diff                        list the changes; fail if version or changelog do not announce them
  npm run diff -- --base main         list the changes since a branch, a commit or a file; the rules are about the released one
  npm run diff -- --html FILE         write it as a page for reviewers: the changes, who is affected, examples before and after
  npm run diff -- --markdown FILE     the same as Markdown, for a comment on a pull request; may be given beside --html
  npm run -s diff -- --markdown       without FILE, --html and --markdown print it and nothing else
  npm run diff -- --json              print the result as JSON
  npm run diff -- --release           make the contract the released one, if it passes the lint and follows the rules
  npm run diff -- --release --force   release it without lint and rules: only before anyone uses that version

The rules: a breaking change needs a new major version in info.version, an addition a minor one, anything else a patch.
CHANGELOG.md needs a section for that version with at least one line below "### Contract"; for a breaking change, one of
these lines must begin with **Breaking**. They name each addition in a code span: an operation as GET /path, a filter, a
field, a status, an event, an error code; and each field that is now deprecated.

A change that is breaking by the rules, but refuses nothing that ever worked, can be listed in
${acceptedFile}: its place as printed here, the reason, and the test that proves it.
It then counts as a patch and is printed under "Accepted". An entry that no breaking change needs, or whose test does
not exist, is an error. Entries of versions that are released remain as a record.

Exit code: 0 if the rules are followed, 1 if not, 2 for wrong options.`;

const read = (file: string) => readFile(file, 'utf8').catch(() => '');
const versionOf = (contract: Json) => (contract.info as { version: string }).version;

class UsageFault extends Error {}

function options() {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values, tokens } = parseArgs({
      options: {
        ...{ base: { type: 'string' }, json: flag, html: flag, markdown: flag },
        ...{ release: flag, force: flag, help: flag },
      },
      allowPositionals: true,
      tokens: true,
    });
    const formats = (['html', 'markdown'] as const).filter((name) => values[name]);
    const files: Partial<Record<string, string>> = {};
    tokens.forEach((token, index) => {
      if (token.kind !== 'positional') return;
      const option = tokens[index - 1];
      const format = option?.kind === 'option' ? formats.find((name) => name === option.name) : undefined;
      if (format === undefined) throw new Error(`Unexpected argument: ${token.value}`);
      files[format] = token.value;
    });
    if (formats.length > 0 && values.json) throw new Error('--json excludes --html and --markdown.');
    if (formats.length > 1 && formats.some((name) => files[name] === undefined))
      throw new Error('--html and --markdown together need a FILE each.');
    if (formats.length > 0 && values.release)
      throw new Error('--html and --markdown do not work with --release.');
    if (values.force && !values.release) throw new Error('--force works only with --release.');
    if (values.base !== undefined && values.release) throw new Error('--release does not work with --base.');
    return { ...values, formats, files };
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

const committed = 'generated/openapi.json';

/** A contract of this project as a branch or a commit has it. */
async function readCommitted(revision: string): Promise<Json | undefined> {
  const args = ['show', `${revision}:./${committed}`];
  const options = { cwd: root, maxBuffer: 64_000_000 };
  const { stdout } = await promisify(execFile)('git', args, options).catch(() => ({ stdout: '' }));
  return stdout === '' ? undefined : (JSON.parse(stdout) as Json);
}

async function readBase(base: string | undefined): Promise<Json> {
  if (base === undefined) return readJson(released);
  if (existsSync(base)) return bundle(resolve(base));
  const found = base.startsWith('-') ? undefined : await readCommitted(base);
  if (!found)
    throw new UsageFault(`--base ${base} is neither a file nor a branch or commit with ${committed}.`);
  return found;
}

/** What others have merged since the release is in the list too. */
async function adviceOnBase(): Promise<string> {
  const merged = await readCommitted('main');
  if (!merged || isDeepStrictEqual(merged, await readJson(released))) return '';
  return '\n\nThis includes what is on main and not released yet. For your own changes: npm run diff -- --base main';
}

async function outcomeOf(base: string | undefined, before: Json, revision: Json): Promise<Outcome> {
  const listed = {
    base:
      base !== undefined && !existsSync(base)
        ? base
        : relative(root, base === undefined ? released : resolve(base)),
    ...(await judged(before, revision)),
  };
  if (base === undefined || !existsSync(released)) return listed;
  // Version and changelog announce what changed since the last release, whatever the changes are listed against.
  const { baseVersion: releasedVersion, problems } = await judged(await readJson(released), revision);
  return { ...listed, releasedVersion, problems };
}

async function judged(before: Json, revision: Json): Promise<Omit<Outcome, 'base'>> {
  const versions = { baseVersion: versionOf(before), version: versionOf(revision) };
  const entries = readAccepted(await read(join(root, acceptedFile)), versions.baseVersion);
  const lines = linesOf(await compare(before, revision), before, revision, root);
  const { changes, problems } = acceptChanges(lines, entries, root);
  problems.push(...judge({ changes, ...versions, changelog: await read(join(root, 'CHANGELOG.md')) }));
  return { ...versions, changes, problems };
}

async function show(review: string, file: string | undefined): Promise<void> {
  if (file === undefined) {
    process.stdout.write(review);
    return;
  }
  await writeFile(file, review);
  console.log(`Wrote ${file}.`);
}

const toDoList = (messages: string[]) =>
  [`${plural(messages.length, 'thing')} to do before merging:`, ...messages.map((one) => `✖ ${one}`)].join(
    '\n\n',
  );

async function publish(contract: Json): Promise<string> {
  await mkdir(dirname(released), { recursive: true });
  await writeFile(released, `${JSON.stringify(contract, null, 2)}\n`);
  return `Released ${versionOf(contract)}: wrote ${relative(root, released)}. Commit it.`;
}

async function main(): Promise<number> {
  const { base, json, formats, files, release, force, help: showHelp } = options();
  const print = (text: string) => {
    if (!json) console.log(text);
  };
  if (showHelp) {
    console.log(help);
    return 0;
  }
  const isFirst = base === undefined && !existsSync(released);
  if (isFirst && !release) {
    console.error('No contract has been released yet. To release this one, run: npm run diff -- --release');
    return 1;
  }
  if (release && !force) await refuseFaultyRelease();
  const revision = await bundleCurrent();
  if (isFirst) {
    const note = await publish(revision);
    console.log(json ? JSON.stringify({ ok: true, released: true }) : `${note} It is the first release.`);
    return 0;
  }
  const before = await readBase(base);
  const outcome = await outcomeOf(base, before, revision);
  const ok = outcome.problems.length === 0;
  if (formats.length > 0) {
    const review = reviewOf(outcome, before, revision);
    for (const format of formats)
      await show(format === 'html' ? asHtml(review) : asMarkdown(review), files[format]);
    // What is printed without a FILE begins with this.
    if (!ok && formats.every((format) => files[format] !== undefined))
      console.log(`\n${toDoList(outcome.problems.map(({ message }) => message))}`);
    return ok ? 0 : 1;
  }
  const changed = outcome.changes.length > 0 || outcome.version !== outcome.baseVersion;
  const publishes = release && changed && (ok || force);
  const { isTTY, columns } = process.stdout;
  const screen = { colour: isTTY && !process.env.NO_COLOR, columns: isTTY ? columns : undefined };
  const hasOthers = base === undefined && !release && !json && outcome.changes.length > 0;
  print(asText(outcome, screen) + (hasOthers ? await adviceOnBase() : ''));
  if (publishes) {
    const note = await publish(revision);
    print(
      `\n${note}${ok ? '' : ' The rules were skipped (--force): make sure nobody uses that version yet.'}`,
    );
  } else if (release) {
    print(ok ? 'Nothing to release.' : '\nNot released. Fix the problems above, then run it again.');
  }
  if (json) console.log(asJson(outcome, publishes));
  return ok || publishes ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ContractFault || error instanceof UsageFault)) throw error;
  console.error(error.message);
  process.exitCode = error instanceof UsageFault ? 2 : 1;
}
