// Runs Redoc at build time.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redocly } from '../support/redocly.ts';
import type { Contract } from './contract.ts';
import { sampleLanguages } from './samples.ts';

/** See https://redocly.com/docs/redoc/v3.x/config. Not in redocly.yaml, to keep everything about the site in one place. */
const options = {
  sortRequiredPropsFirst: true,
  jsonSamplesExpandLevel: 'all',
  hideDownloadButtons: true,
  /** Names such as `FreeText` are for those who write the contract. */
  hideSchemaTitles: true,
  /** The height of our bar. */
  scrollYOffset: 56,
  codeSamples: {
    languages: [...sampleLanguages.map((lang) => ({ lang })), { lang: 'payload', label: 'JSON body' }],
  },
};

export async function renderReference(contract: Contract): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-docs-'));
  try {
    const source = join(folder, 'contract.json');
    const settings = join(folder, 'options.json');
    const output = join(folder, 'index.html');
    writeFileSync(source, JSON.stringify(contract));
    writeFileSync(settings, JSON.stringify(options));
    const looks = ['--openapi', settings, '--template', join(import.meta.dirname, 'template.html')];
    const { status, stdout, stderr } = await redocly([
      'build-docs',
      source,
      '--inlineBundle',
      ...looks,
      '--output',
      output,
    ]);
    if (status !== 0) throw new Error(`redocly build-docs failed:\n${stderr}${stdout}`.trimEnd());
    return readFileSync(output, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
