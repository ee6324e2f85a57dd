// Not only the check refuses internal addresses (see test/unit/address-guard.test.ts): what sends a delivery asks it each time.
import { expect, it } from 'vitest';
import { RefusedAddress } from '../../server/events/guard.ts';
import { createSend, sendOptions } from '../../server/events/send.ts';

const attempt = (url: string, environment: 'sandbox' | 'production') =>
  createSend(sendOptions({ environment })).send(
    { account: 'default', subscription: 'one', url, body: '{}', headers: {}, login: undefined },
    new AbortController().signal,
  );

it.each(['10.0.0.1', '169.254.169.254', '0.0.0.0', '[fd00:ec2::254]', '[fe80::1]', '[::ffff:a9fe:a9fe]'])(
  'no delivery to %s is attempted',
  async (host) => {
    for (const environment of ['sandbox', 'production'] as const)
      await expect(attempt(`https://${host}/`, environment)).rejects.toThrow(RefusedAddress);
  },
);

it.each([
  '127.0.0.1',
  '[::1]',
  '[::ffff:7f00:1]',
  'localhost',
  '2130706433',
  '0x7f.1',
  '017700000001',
  '127.1',
])('production attempts no delivery to %s, which is for the sandbox', async (host) => {
  await expect(attempt(`https://${host}:9/`, 'production')).rejects.toThrow(RefusedAddress);
  await expect(attempt(`https://${host}:9/`, 'sandbox')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
