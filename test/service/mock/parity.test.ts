// Mock and service are equal for a caller: the same requests, generated and hand-written, get the same status, code and
// violations from both. parity.allowed.ts lists the only allowed differences.
// Other requests, and more of them: SEED=random npm test -- parity
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations, type OperationId } from '../../../generated/operations.ts';
import { signToken } from '../../../server/kit/access/token.ts';
import { card } from '../../support/card.ts';
import { runs } from '../../support/random.ts';
import { bodySchemaOf } from '../../support/requests.ts';
import type { TestService } from '../../support/service.ts';
import { examplePath } from '../../support/valid-request.ts';
import { allowed, needsRecord } from './parity.allowed.ts';
import {
  agree,
  exchange,
  hangUp,
  report,
  type Exchange,
  type Parties,
  type Who,
  type Wire,
} from './parity.exchange.ts';
import { merchantAccount, namedCases, rightWire } from './parity.named.ts';
import { anyQuery, brokenAtSome, garbled, ids, valid, wireOf } from './parity.requests.ts';
import { startBoth, table, type TestMock } from './support.ts';

let mock: TestMock;
let service: TestService;
let stop: () => Promise<void>;
let parties: Parties;
let administrator: Who;
beforeAll(async () => {
  // No worker, because the subscriptions of the corpus have no receivers.
  ({ mock, service, stop } = await startBoth({}, { webhookWorker: false }));
  parties = { mock: mock.url, service: service.url };
  administrator = sign('*.read', '*.write');
});
afterAll(async () => {
  hangUp();
  await stop();
});

const sign = (...scopes: string[]): Who => ({
  kind: 'administrator',
  token: service.token(...scopes),
  says: `an administrator with ${scopes.join(', ') || 'no scope'}`,
});

const used = new Set<string>();

/** Sends a request to both and fails unless the answers are equal or the difference is allowed. A 500 is always a failure. */
async function compare(wire: Wire): Promise<Exchange> {
  const answers = await exchange(parties, wire);
  await forgetSubscription(answers);
  const failed = answers.service.status === 500;
  if (agree(answers) && !failed) return answers;
  const reason = failed ? undefined : allowed.find(({ when }) => when(answers));
  if (!reason) throw new Error(report(answers));
  used.add(reason.name);
  return answers;
}

/** The service limits how many subscriptions an account has; with many runs the corpus would exceed that. */
async function forgetSubscription({ service: { status, body } }: Exchange): Promise<void> {
  const created = body as { type?: string; id?: string } | null;
  if (status !== 201 || created?.type !== 'webhook-subscription') return;
  const { db } = service.service.database;
  await db
    .deleteFrom('webhook_subscriptions')
    .where('id', '=', created.id ?? '')
    .execute();
}

/** The statuses that the service answered with. */
async function check<T>(arbitrary: fc.Arbitrary<T>, wire: (value: T) => Wire, cases = 30) {
  const statuses: number[] = [];
  await fc.assert(
    fc.asyncProperty(arbitrary, async (value) => {
      statuses.push((await compare(wire(value))).service.status);
    }),
    { numRuns: runs(cases) },
  );
  return statuses;
}

describe.each(ids)(`%s`, (id) => {
  const path = examplePath(id);
  const accounts = [{}, { [merchantAccount]: 'default' }, { [merchantAccount]: 'marketplace' }];

  it('requests that match the contract, and some of them succeed if they need no stored record', async () => {
    const arbitrary = fc.tuple(valid(id), fc.constantFrom(...accounts));
    const statuses = await check(arbitrary, ([one, account]) => {
      const wire = wireOf(one, administrator, 'as the contract has it');
      return { ...wire, headers: { ...wire.headers, ...account } };
    });
    if (!needsRecord(id)) expect(statuses).toContain(operations[id].statuses[0]);
  });

  it('requests that break it in one to four ways', () =>
    check(brokenAtSome(id), (one) => wireOf(one.sent, administrator, one.what)));

  it('queries of any characters', () =>
    check(anyQuery, (query) => ({
      ...rightWire(id, administrator, { name: 'any query' }),
      target: `${path}?${query}`,
    })));

  it('paths that are almost this one', () =>
    check(
      garbled(fc.constant(path), '/%.0aA;~-_').filter((target) => target !== ''),
      (target) => ({ ...rightWire(id, administrator, { name: 'almost the path' }), target }),
      10,
    ));

  if (bodySchemaOf(id))
    it('bodies that are almost JSON', () =>
      check(
        garbled(
          valid(id).map((one) => JSON.stringify(one.body)),
          '{}[]",:0a\\ ',
        ),
        (body) => ({
          ...rightWire(id, administrator, { name: 'a garbled body' }),
          body,
        }),
      ));

  it('tokens with one scope', async () => {
    const scopes = ['embed', '*.read', '*.write', ...table.flatMap(([, one]) => one.scopes), 'unicorns.read'];
    for (const scope of new Set(scopes)) await compare(rightWire(id, sign(scope), { name: `only ${scope}` }));
    await compare(rightWire(id, sign(), { name: 'no scope' }));
    await compare(rightWire(id, sign('embed', 'unicorns.read'), { name: 'embed and another' }));
  });
});

it('named cases', async () => {
  const faults: string[] = [];
  const cases = namedCases(administrator);
  for (const wire of cases)
    await compare(wire).catch((error: unknown) => faults.push(`${wire.name}: ${String(error)}`));
  expect(faults.join('\n\n')).toBe('');
});

describe('Idempotency-Key', () => {
  const coded = { ...card, security_code: '737' };
  const send = async (
    name: string,
    { key = name, ...given }: { key?: string; account?: string; json?: object; id?: OperationId; who?: Who },
  ) => {
    const { id = 'createPaymentMethod', json = coded, who = administrator, account } = given;
    const headers = { 'Idempotency-Key': key, ...(account ? { [merchantAccount]: account } : {}) };
    const { mock: mocked, service: real } = await compare(rightWire(id, who, { name, json, headers }));
    return {
      statuses: [mocked.status, real.status],
      replayed: mocked.headers['idempotency-replayed'],
      bodies: [mocked.body, real.body],
    };
  };

  it('the same body: both answer again what they have answered', async () => {
    const [first, second] = [await send('repeated', {}), await send('repeated', {})];
    expect([first.statuses, first.replayed]).toEqual([[201, 201], 'false']);
    expect([second.statuses, second.replayed]).toEqual([[201, 201], 'true']);
    expect(second.bodies).toEqual(first.bodies);
    const other = await send('repeated', { json: { ...coded, security_code: '111' } });
    expect(other.bodies).toEqual(first.bodies);
  });

  it('another body, another path: 422', async () => {
    await send('reused', {});
    const body = await send('reused', { json: { ...coded, expiration_date: '11/39' } });
    const path = await send('reused', {
      id: 'createWebhookSubscription',
      json: { url: 'https://a.example/', active: false },
    });
    expect([body.statuses, path.statuses]).toEqual([
      [422, 422],
      [422, 422],
    ]);
    expect((await send('reused', {})).replayed).toBe('true');
  });

  it('another account: another key', async () => {
    await send('elsewhere', {});
    const other = await send('elsewhere', { account: 'marketplace' });
    expect([other.statuses, other.replayed]).toEqual([[201, 201], 'false']);
    expect((await send('elsewhere', { account: 'default' })).replayed).toBe('true');
  });

  it('a kept refusal, and one that is not kept', async () => {
    const json = { ...coded, buyer_external_identifier: 'no-such-buyer' };
    const [first, second] = [await send('refused', { json }), await send('refused', { json })];
    expect([first.statuses, first.replayed, second.replayed]).toEqual([[404, 404], 'false', 'true']);
    expect((await send('malformed', { json: { ...coded, number: '1' } })).statuses).toEqual([400, 400]);
    expect((await send('malformed', {})).statuses).toEqual([201, 201]);
  });

  it('another key pair: the mock knows none', async () => {
    const pair = await service.pair();
    const who: Who = { kind: 'restricted', token: pair.token('*.write'), says: 'another pair' };
    await send('of a pair', {});
    const json = { ...coded, expiration_date: '11/39' };
    expect((await send('of a pair', { json, who })).statuses).toEqual([422, 201]);
  });
});

describe('what the mock cannot know', () => {
  const statuses = async (wire: Wire) => {
    const { mock: mocked, service: real } = await compare(wire);
    return [mocked.status, real.status];
  };
  const list = (who: Who, target = '/transactions', headers: Wire['headers'] = {}): Wire => ({
    ...{ name: 'a list', method: 'GET', target, headers, who },
  });

  it('an identifier that is taken', async () => {
    const json = { ...card, external_identifier: 'twice' };
    const wire = rightWire('createPaymentMethod', administrator, { name: 'an identifier', json });
    expect(await statuses(wire)).toEqual([201, 201]);
    expect(await statuses(wire)).toEqual([201, 409]);
  });

  it('a buyer that does not exist', async () => {
    const json = { ...card, buyer_external_identifier: 'me' };
    const wire = rightWire('createPaymentMethod', administrator, { name: 'a buyer', json });
    expect(await statuses(wire)).toEqual([201, 404]);
  });

  it('how often a token was used', async () => {
    const wire = rightWire('checkGiftCardBalances', sign('embed'), { name: 'again and again' });
    const seen = [];
    for (let times = 0; times < 51; times += 1) seen.push(await statuses(wire));
    expect(seen.slice(0, 50).flat()).toEqual(Array(100).fill(200));
    expect(seen[50]).toEqual([200, 429]);
  });

  it('who signed a token', async () => {
    const stranger = (token: string): Who => ({ kind: 'stranger', token, says: 'a stranger' });
    const forged = `${administrator.token?.slice(0, -6) ?? ''}AAAAAA`;
    for (const token of ['anything', 'a.b.c', forged])
      expect(await statuses(list(stranger(token)))).toEqual([200, 401]);
    const old = signToken(service.key, ['*.read'], -3_600);
    expect(await statuses(list(stranger(old)))).toEqual([401, 401]);
  });

  it('what a key pair may do', async () => {
    const roles = await service.pair({ allow: ['unicorns.read'] });
    const some = await service.pair({ accounts: ['marketplace'] });
    const as = (pair: { token: (...scopes: string[]) => string }): Who => ({
      ...{ kind: 'restricted', token: pair.token('*.read', '*.write'), says: 'a restricted pair' },
    });
    expect(await statuses(list(as(roles)))).toEqual([200, 403]);
    const headers = (account: string) => ({ [merchantAccount]: account });
    expect(await statuses(list(as(some), '/transactions', headers('default')))).toEqual([200, 404]);
    expect(await statuses(list(as(some), '/transactions', headers('*')))).toEqual([200, 200]);
    const all = rightWire('createWebhookSubscription', as(some), { name: 'for all', headers: headers('*') });
    expect(await statuses(all)).toEqual([201, 403]);
  });

  it('a cursor that the other one issued', async () => {
    const first = await compare(list(administrator, '/transactions?limit=1'));
    const [own, foreign] = [first.mock, first.service].map(
      ({ body }) => (body as { next_cursor: string }).next_cursor,
    );
    expect(await statuses(list(administrator, `/transactions?cursor=${own ?? ''}`))).toEqual([200, 422]);
    expect(await statuses(list(administrator, `/transactions?cursor=${foreign ?? ''}`))).toEqual([422, 200]);
  });

  it('Prefer, which the service ignores', async () => {
    const wire = list(administrator, '/transactions', { Prefer: 'code=401' });
    expect(await statuses(wire)).toEqual([401, 200]);
    expect(await statuses({ ...wire, headers: { Prefer: 'return=minimal' } })).toEqual([200, 200]);
  });
});

it('every allowed difference is needed; one that is not must be removed', () => {
  expect(allowed.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
});
