import { expect, it } from 'vitest';
import { connectionFault } from '../../server/kit/database/faults.ts';

it.each([
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'unable to verify the first certificate',
    'add sslrootcert=FILE to DATABASE_URL',
  ],
  [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'self-signed certificate in certificate chain',
    'add sslrootcert=FILE to DATABASE_URL',
  ],
  [
    '28P01',
    'password authentication failed for user "payments"',
    'Check DATABASE_URL (or DATABASE_URL_FILE).',
  ],
])('a database that refuses us with %s: the message says what to do', (code, reason, advice) => {
  const { message } = connectionFault('db.example/payments', Object.assign(new Error(reason), { code }));
  expect(message).toContain(`The database at db.example/payments cannot be used: ${reason}. `);
  expect(message).toContain(advice);
});
