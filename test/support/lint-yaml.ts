/**
 * Lints small contracts that are written in the test, with Redocly's library in this process. A comment `#! text` ends each line
 * that must be reported, with a part of the message; nothing else may be reported. The comments are removed before the lint.
 */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createConfig, lint, type Config } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { asReported, explain } from '../../scripts/lint/contract.ts';
import type { Problem, Reported } from '../../scripts/lint/problem.ts';
import { readSources, sourceOf, type Sources } from '../../scripts/lint/sources.ts';
import { yamlFaults } from '../../scripts/lint/yaml-faults.ts';
import { root } from '../../scripts/support/root.ts';

/** By path within openapi/. */
export type Files = Record<string, string>;

interface Settings {
  extends?: string[];
  plugins: string[];
  rules: Record<string, object | string>;
}

const refunds = join(root, 'test/fixtures/refunds');
const configPath = join(root, 'redocly.yaml');
const settings = parse(await readFile(configPath, 'utf8'), { merge: true }) as Settings;
const { plugins } = settings;

const configs = new Map<string | undefined, Promise<Config>>();

/** As in redocly.yaml: one rule, the assertions whose names begin with it, or all of them. */
export function configOf(rule?: string): Promise<Config> {
  const known = configs.get(rule);
  if (known) return known;
  const isMeant = (name: string) => rule === undefined || name === rule || name.startsWith(`${rule}-`);
  const rules = Object.fromEntries(Object.entries(settings.rules).filter(([name]) => isMeant(name)));
  const more = rule === undefined ? ['recommended-strict'] : [];
  const config = createConfig({ extends: more, plugins, rules } as object, { configPath });
  configs.set(rule, config);
  return config;
}

async function redocly(folder: string, rule?: string): Promise<Reported[]> {
  const problems = await lint({ ref: join(folder, 'openapi/openapi.yaml'), config: await configOf(rule) });
  return asReported(problems, folder);
}

const mark = /[ \t]*#! (.*)$/gm;

async function write(folder: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, 'openapi', name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text.replace(mark, ''));
  }
}

/** A folder that `await using` removes. */
async function projectOf(files: Files, base?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'lint-yaml-'));
  if (base !== undefined) await cp(base, folder, { recursive: true });
  await write(folder, files);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

/** What one rule of redocly.yaml says about a contract that need not be whole. A text is the root file. */
async function expectRule(rule: string, given: string | Files): Promise<void> {
  const files = typeof given === 'string' ? { 'openapi.yaml': given } : given;
  const all = { ...files, 'openapi.yaml': `openapi: 3.1.0\n${(files['openapi.yaml'] ?? '').trimStart()}` };
  await using project = await projectOf(all);
  expectMarked(await redocly(project.folder, rule), all);
}

/** A test for each fault, by its name. */
export const testRule = (rule: string, cases: Record<string, string | Files>) => {
  describe(rule, () => {
    it.each(Object.entries(cases))('%s', (_name, given) => expectRule(rule, given));
  });
};

const indent = (text: string, by: number) => text.trim().replaceAll(/^(?=.)/gm, ' '.repeat(by));

/** A root file with one operation. */
export const operation = (text: string, method = 'get') =>
  `paths:\n  /refunds:\n    ${method}:\n${indent(text, 6)}\n`;

/** A root file with one schema. */
export const schema = (text: string) => `components:\n  schemas:\n    Refund:\n${indent(text, 6)}\n`;

type Edits = Record<string, string | ((text: string) => string)>;

/** What the whole lint says about the contract of test/fixtures/refunds with some files changed or written anew. */
async function expectLint(edits: Edits[]): Promise<void> {
  const files: Files = {};
  for (const [name, edit] of edits.flatMap((one) => Object.entries(one)))
    files[name] =
      typeof edit === 'string'
        ? edit.trimStart()
        : edit(files[name] ?? (await readFile(join(refunds, 'openapi', name), 'utf8')));
  await using project = await projectOf(files, refunds);
  expectMarked(await lintInProcess(project.folder), files);
}

/** Faults by their names, all in one contract, because a whole lint is slow. Faults that hide others need another call. */
export const testLint = (faults: Record<string, Edits>) => {
  it(Object.keys(faults).join('; '), () => expectLint(Object.values(faults)));
};

const sourcesOf = (files: Files): Sources =>
  new Map(Object.entries(files).map(([name, text]) => [`openapi/${name}`, sourceOf(text.replace(mark, ''))]));

/** A file that is not YAML. */
export function expectYaml(text: string): void {
  const files = { 'x.yaml': text.replace(/^\n/, '') };
  expectMarked(yamlFaults(sourcesOf(files)), files);
}

/** As `lintContract` does, with a configuration that is read once. */
async function lintInProcess(folder: string): Promise<Problem[]> {
  const sources = readSources(folder);
  const faults = yamlFaults(sources);
  return faults.length > 0 ? faults : explain(await redocly(folder), sources, folder);
}

function expectMarked(problems: Problem[], files: Files): void {
  const expected = Object.entries(files).flatMap(([name, text]) =>
    text.split('\n').flatMap((content, index) => {
      const [, says] = new RegExp(mark.source).exec(content) ?? [];
      return (says?.split(' #! ') ?? []).map((part) => `openapi/${name}:${index + 1} ${part}`);
    }),
  );
  const found = problems.map(({ file, line, message }) => {
    const said = `${file}:${line} ${message.replaceAll(/\s+/g, ' ')}`;
    return expected.find((one) => isPartOf(one, said)) ?? said;
  });
  expect(found.sort()).toEqual(expected.sort());
}

function isPartOf(expected: string, said: string): boolean {
  const [place = ''] = expected.split(' ', 1);
  return said.startsWith(`${place} `) && said.includes(expected.slice(place.length + 1));
}
