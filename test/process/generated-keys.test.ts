// A process that has just generated a key can export it: see generateKeyPair. Little memory for young objects, so that the garbage
// collector often runs in the middle of an export. Without the detour a process hung after some hundred keys.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

it('exports keys that it has just generated, and does not hang', async () => {
  const code = `
    import { generateKeyPair, thumbprint } from './server/kit/access/token.ts';
    const seen = new Set();
    for (let keys = 0; keys < 400; keys += 1) {
      const { privateKey } = generateKeyPair('ECDSA');
      for (let exports = 0; exports < 20; exports += 1) seen.add(thumbprint(privateKey));
    }
    console.log(seen.size);`;
  const args = ['--max-semi-space-size=1', '--import', 'tsx', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 120_000 });
  expect(stdout).toBe('400\n');
});
