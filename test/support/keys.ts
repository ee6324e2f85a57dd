import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/support/root.ts';

/** The first key of the sandbox in this DATA_DIR. */
export const keyIn = (dataDir: string) => createPrivateKey(readFileSync(join(dataDir, 'sandbox-key.pem')));

const folder = join(root, 'test', 'fixtures', 'keys');

export const certificateFile = join(folder, 'tests-only.crt');
/** For 127.0.0.1. From a file, because to make an RSA key takes up to a second. */
export const certificate = {
  key: readFileSync(join(folder, 'tests-only.key'), 'utf8'),
  cert: readFileSync(certificateFile, 'utf8'),
};
/** Of the same key; it ended in 2021. */
export const expiredCertificateFile = join(folder, 'tests-only-expired.crt');
export const rsaKey = createPrivateKey(certificate.key);
