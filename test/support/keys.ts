/** An RSA key and a certificate of it for 127.0.0.1, because to make a key takes up to a second. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/support/root.ts';

const folder = join(root, 'test', 'fixtures', 'keys');

export const certificateFile = join(folder, 'tests-only.crt');
export const certificate = {
  key: readFileSync(join(folder, 'tests-only.key'), 'utf8'),
  cert: readFileSync(certificateFile, 'utf8'),
};
export const rsaKey = createPrivateKey(certificate.key);
