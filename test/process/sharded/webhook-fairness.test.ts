// One merchant account never takes what others need: places of the worker, attempts under way, name resolution.
import { setMaxListeners } from 'node:events';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createResolve } from '../../../server/kit/events/resolve.ts';
import { startNameServer } from '../../support/name-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startTestService } from '../../support/service.ts';
import { patient, settled, storeCard, subscribe, until } from '../../support/webhooks.ts';

describe('an account whose receivers hang', () => {
  it('has 100 attempts under way and no more, and another account is served meanwhile', async () => {
    let open = 0;
    let most = 0;
    await using hanging = await startReceiver((res) => {
      open += 1;
      most = Math.max(most, open);
      res.once('close', () => (open -= 1));
    });
    await using good = await startReceiver();
    await using service = await startTestService({ webhooks: patient });
    // Of its own and for all accounts.
    const subscriptions = 40;
    for (let made = 0; made < subscriptions; made += 1)
      await subscribe(service, hanging.url, { account: made % 2 ? 'default' : '*' });
    for (let stored = 0; stored < 50; stored += 1) await storeCard(service);
    await hanging.received(100);

    const subscription = await subscribe(service, good.url, { account: 'marketplace' });
    await storeCard(service, 'marketplace');
    await good.received(1);
    expect((await settled(service, subscription)).attempts).toBe(1);
    // One of marketplace's own for each subscription to all accounts that has room.
    expect(most).toBeGreaterThanOrEqual(100);
    expect(most).toBeLessThanOrEqual(100 + subscriptions / 2);
    const { rows } = await sql<{ held: number }>`
      select count(*) as held from deliveries where leased_by is not null`.execute(
      service.service.database.db,
    );
    expect(rows[0]?.held).toBeLessThanOrEqual(100 + subscriptions / 2);
    await hanging[Symbol.asyncDispose]();
  });
});

describe('names that are never resolved', () => {
  it('delay neither other accounts nor other names', async () => {
    await using nameServer = await startNameServer((name) =>
      name === 'good.test' ? { addresses: ['127.0.0.1'] } : undefined,
    );
    await using good = await startReceiver();
    const options = { ...patient.options, dnsServers: [nameServer.address] };
    await using service = await startTestService({
      webhooks: { ...patient, options, schedule: () => undefined },
    });
    const silent = [];
    for (let made = 0; made < 40; made += 1)
      silent.push(await subscribe(service, `http://silent-${made}.test/`));
    const url = new URL(good.url);
    url.hostname = 'good.test';
    const subscription = await subscribe(service, url.href, { account: 'marketplace' });
    await storeCard(service);
    await nameServer.received(2);
    await storeCard(service, 'marketplace');
    await good.received(1);
    expect((await settled(service, subscription)).state).toBe('succeeded');

    for (const one of silent) await settled(service, one);
    const attempts = await service.service.database.db
      .selectFrom('delivery_attempts')
      .select(['status', 'error', 'at', 'milliseconds'])
      .execute();
    const endOf = ({ at, milliseconds }: { at: Date; milliseconds: number }) => at.getTime() + milliseconds;
    const failed = attempts.filter(({ status }) => status === null);
    expect(new Set(failed.map(({ error }) => error))).toEqual(
      new Set(['the host name could not be resolved within 5 s']),
    );
    expect(failed).toHaveLength(silent.length);
    const succeeded = attempts.filter(({ status }) => status !== null);
    expect(Math.max(...succeeded.map(endOf))).toBeLessThan(Math.max(...failed.map(endOf)));
  });

  it('are asked for 20 at a time per account', async () => {
    await using nameServer = await startNameServer(() => undefined);
    const resolve = createResolve({ dnsServers: [nameServer.address] });
    const attempt = new AbortController();
    setMaxListeners(0, attempt.signal);
    const asked = () => new Set(nameServer.asked);
    const outcomes = Array.from({ length: 30 }, (_, index) =>
      resolve(`silent-${index}.test`, 'default', attempt.signal),
    );
    const other = resolve('other.test', 'marketplace', attempt.signal);
    await until(() => Promise.resolve(asked().size >= 21));
    // Any 20: each has read /etc/hosts before, and may have waited for that.
    expect([...asked()].filter((name) => name.startsWith('silent-'))).toHaveLength(20);
    expect(asked()).toContain('other.test');
    // Cancelled, they end at once, and those that waited never ask.
    attempt.abort();
    const ended = await Promise.allSettled([...outcomes, other]);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(asked().size).toBe(21);
    expect(process.getActiveResourcesInfo()).not.toContain('QUERYWRAP');
  });
});
