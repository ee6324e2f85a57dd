// `npm run diff`: what changed since the last released contract, whom it breaks, and whether that was announced.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Json } from './diff/change.ts';
import { bundle, compare, ContractFault, readJson } from './diff/compare.ts';
import { judge } from './diff/judge.ts';
import { asJson, asText, linesOf, type Outcome } from './diff/report.ts';
import { root } from './support/redocly.ts';

const released = join(root, 'openapi/released/openapi.json');

const help = `Compare the contract in openapi/ with the last released one, openapi/released/openapi.json.

  npm run diff                        list the changes; fail if version or changelog do not announce them
  npm run diff -- --base FILE         compare with another contract
  npm run diff -- --json              the same for programs
  npm run diff -- --release           make the contract the released one, if the rules hold
  npm run diff -- --release --force   the same without the rules: only before anyone uses that version

The rules: a breaking change needs a new major version in info.version, an addition a minor one, anything else a patch;
and CHANGELOG.md needs a section of that version with at least one line below "### Contract", which begins with
**Breaking** if something breaks.

Exits 0 if the rules hold, 1 if not, 2 if the options make no sense.`;

const read = (file: string) => readFile(file, 'utf8').catch(() => '');
const versionOf = (contract: Json) => (contract.info as { version: string }).version;

class UsageFault extends Error {}

function options() {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({
      options: { base: { type: 'string' }, json: flag, release: flag, force: flag, help: flag },
    });
    if (values.force && !values.release) throw new Error('--force goes with --release.');
    if (values.base !== undefined && values.release)
      throw new Error('--release compares with the released contract only.');
    return values;
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

async function outcomeOf(base: string | undefined, revision: Json): Promise<Outcome> {
  const before = base === undefined ? await readJson(released) : await bundle(resolve(base));
  const changes = linesOf(await compare(before, revision), before, revision, root);
  const versions = { baseVersion: versionOf(before), version: versionOf(revision) };
  const problems = judge({ changes, ...versions, changelog: await read(join(root, 'CHANGELOG.md')) });
  return {
    base: relative(root, base === undefined ? released : resolve(base)),
    ...versions,
    changes,
    problems,
  };
}

async function publish(contract: Json): Promise<string> {
  await mkdir(dirname(released), { recursive: true });
  await writeFile(released, `${JSON.stringify(contract, null, 2)}\n`);
  return `Released ${versionOf(contract)}: wrote ${relative(root, released)}. Commit it.`;
}

async function main(): Promise<number> {
  const { base, json, release, force, help: asked } = options();
  const say = (text: string) => {
    if (!json) console.log(text);
  };
  if (asked) {
    console.log(help);
    return 0;
  }
  const revision = await bundle('payments@v1');
  if (base === undefined && !existsSync(released)) {
    if (release) {
      const note = await publish(revision);
      console.log(json ? JSON.stringify({ ok: true, released: true }) : `${note} There was none before.`);
      return 0;
    }
    console.error('There is no released contract to compare with yet. Run: npm run diff -- --release');
    return 1;
  }
  const outcome = await outcomeOf(base, revision);
  const holds = outcome.problems.length === 0;
  const moved = outcome.changes.length > 0 || outcome.version !== outcome.baseVersion;
  const publishes = release && moved && (holds || force);
  const { isTTY, columns } = process.stdout;
  say(asText(outcome, { colour: isTTY && !process.env.NO_COLOR, columns: isTTY ? columns : undefined }));
  if (publishes) {
    const note = await publish(revision);
    say(`\n${note}${holds ? '' : ' The rules were not asked (--force): nobody may use that version yet.'}`);
  } else if (release) {
    say(holds ? 'Nothing to release.' : '\nNot released. Mend what is said above, then run it again.');
  }
  if (json) console.log(asJson(outcome, publishes));
  return holds || publishes ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ContractFault || error instanceof UsageFault)) throw error;
  console.error(error.message);
  process.exitCode = error instanceof UsageFault ? 2 : 1;
}
