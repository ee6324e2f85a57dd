// Scans every tracked file for what must never be committed: private keys, tokens, download URLs in the lock file, and
// absolute paths of the developer's machine.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './support/root.ts';

const forbidden: [what: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN (?:EC |RSA |ENCRYPTED )?PRIVATE KEY-----(?:\s|\\n)+[A-Za-z0-9+/=]{40}/],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}/],
  ['an absolute local path', /(?:^|["'\s=(])\/(?:home|root|Users|work)\/[a-z]/m],
];
const lockOnly: [what: string, pattern: RegExp][] = [['a download URL', /"resolved":|registry\.[a-z]/]];

// Tests use them, and nothing trusts them.
const testKeys = [
  'test/fixtures/keys/tests-only.key',
  'test/fixtures/releases/1.0.0/facts.json',
  'test/fixtures/releases/1.1.0/facts.json',
  'test/fixtures/releases/1.2.0/facts.json',
];

const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && !testKeys.includes(file));
const faults = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const rules = /(^|\/)package-lock\.json$|\.npmrc$/.test(file) ? [...forbidden, ...lockOnly] : forbidden;
  return rules.flatMap(([what, pattern]) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [`${file}:${text.slice(0, at).split('\n').length} contains ${what}`];
  });
});
if (faults.length > 0) {
  console.error(`${faults.join('\n')}\nRemove it, and rewrite the commit that added it.`);
  process.exitCode = 1;
} else {
  console.log(`${files.length} files scanned, nothing forbidden found`);
}
