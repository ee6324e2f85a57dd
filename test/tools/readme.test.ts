// The outputs and commands in the README, and the tables that it links to, are real.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstCall } from '../../server/domain.ts';
import { defaultDataDir } from '../../server/kit/installation.ts';
import { curlOf } from '../../server/kit/installation.ts';
import { fileNameOf, rows } from '../../server/settings.ts';
import { startTestService } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const readme = read('README.md');
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;

describe('the README', () => {
  it('shows the real answer to its curl', async () => {
    const shown = /```json\n(.*)…\n```/.exec(readme)?.[1] ?? 'nothing';
    const [, path = ''] = /http:\/\/127\.0\.0\.1:8080(\/\S+)\n *```/.exec(readme) ?? [];
    await using service = await startTestService({ config: { publicUrl: 'http://127.0.0.1:8080' } });
    const port = service.service.port;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { Authorization: `Bearer ${service.token('*.read')}` },
    });
    expect(response.status).toBe(200);
    expect((await response.text()).startsWith(shown)).toBe(true);
  });

  it('has the same three first steps as the home of the docs and Getting started', () => {
    const stepsOf = (file: string) =>
      /^1\. \*\*Get a token[^]*?^3\.[^]*?```sh[^]*?```/m
        .exec(read(file))?.[0]
        .replaceAll(/\]\([^)]*#[^)]*\)/g, '](…)')
        .replaceAll(/\s+/g, ' ');
    expect(stepsOf('README.md')).toContain('Store a card');
    for (const file of ['docs/overview.md', 'openapi/introduction.md'])
      expect(stepsOf(file)).toBe(stepsOf('README.md'));
  });

  it('shows the curl that npm start prints', () => {
    expect(readme).toContain(curlOf(`http://127.0.0.1:8080${firstCall}`, defaultDataDir));
  });

  it('names the command that runs the tests, right below the one that starts the sandbox, and CI runs it', () => {
    const [start = '', test = ''] = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, command]) => command);
    expect([start, test]).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
    expect(read('.ci/run')).toMatch(/^npm ci$[^]*^node \.ci\/tests\.js test$/m);
  });

  it('links only to what exists', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)]
      .map(([, target]) => target ?? '')
      .filter((target) => !target.startsWith('http'));
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });
});

it.each(['README.md', 'CONTRIBUTING.md'])('%s says in one sentence who validates what', (file) => {
  expect(read(file).replaceAll(/\s+/g, ' ')).toContain(
    'express-openapi-validator validates every request, validators that are compiled from the same contract validate every response, and Prism writes the bodies of the mock',
  );
});

it('CONTRIBUTING.md names exactly the existing commands', () => {
  const named = [...read('CONTRIBUTING.md').matchAll(/`npm (?:run )?(?:-s )?(?!ci\b)([a-z:]+)/g)].map(
    ([, name]) => name,
  );
  expect(new Set(named)).toEqual(new Set(Object.keys(scripts).filter((name) => !name.startsWith('pre'))));
});

it('CONTRIBUTING.md names for each folder tests that exist', () => {
  const [, section = ''] = read('CONTRIBUTING.md').split('## Before you hand it in');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`.+?) *\| (.+?) *\|$/gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, folders = '', commands = ''] of rows) {
    for (const [, path = ''] of folders.matchAll(/`([\w/.-]+\/|\w+\.json|Dockerfile)`/g))
      expect(existsSync(join(root, path)), path).toBe(true);
    for (const [, part = '', words = ''] of commands.matchAll(/`npm run test:(process|tools) -- ([^`]*)`/g)) {
      const files = readdirSync(join(root, 'test', part), { recursive: true, encoding: 'utf8' });
      const tests = files.filter(
        (file) => file.endsWith('.test.ts') && !/(nightly|citus|scale|upgrades)\//.test(file),
      );
      for (const word of words.trim().split(' '))
        expect(
          tests.some((file) => file.includes(word)),
          `${part} ${word}`,
        ).toBe(true);
    }
  }
});

it('docs/settings.md has the table of settings, in its order', () => {
  const lines = read('docs/settings.md')
    .split('\n')
    .filter((line) => /^\| `[A-Z]/.test(line));
  const cells = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect(cells).toEqual(
    rows.map(([name, { doc, format, default: text, unset = '', isSecret, guide }]) => [
      isSecret ? `\`${name}\` or \`${fileNameOf(name)}\`` : `\`${name}\``,
      guide === undefined ? doc : `${doc} ([guide](${guide}))`,
      format,
      text === undefined ? unset : `\`${text}\``,
    ]),
  );
});
