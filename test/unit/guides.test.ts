// Messages name guides by paths that can be opened as they are printed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { guide } from '../../server/kit/guides.ts';

const folder = mkdtempSync(join(tmpdir(), 'payments-guides-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('a guide is a path of the project, or of the installation that has it', () => {
  mkdirSync(join(folder, 'docs/guides'), { recursive: true });
  writeFileSync(join(folder, 'docs/guides/keys.md'), '');
  expect(guide('guides/keys.md')).toBe('docs/guides/keys.md');
  expect(guide('guides/keys.md', join(folder, 'dist'))).toBe(join(folder, 'docs/guides/keys.md'));
  expect(guide('guides/keys.md', join(folder, 'server'))).toBe('docs/guides/keys.md');
  expect(guide('guides/other.md', join(folder, 'dist'))).toBe('docs/guides/other.md');
});
