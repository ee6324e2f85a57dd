/** Shared tests of an operation: starts the service, tests the common statuses, and checks that all statuses were seen. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';
import type { WriteDeps } from '../../server/handlers/deps.ts';
import { handlers } from '../../server/handlers/index.ts';
import type { Handlers } from '../../server/kit/contract/handler-types.ts';
import type { Db } from '../../server/kit/database/database.ts';
import { forgetObserved, observed, type CallOptions } from './call.ts';
import { parametersOf } from './requests.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';
import { exampleBody, examplePath, mustSucceed, recordMaker, type MadePath } from './valid-request.ts';

export interface Frame {
  service: TestService;
  /** The database of the service, for records that a test needs: see test/support/records.ts. */
  db: Db;
  secrets: TestService['secrets'];
  /** Calls the operation as the administrator, by default with a valid request. `path` replaces parameters of the path. */
  call: (options?: FrameCall) => ReturnType<TestService['call']>;
}

interface FrameCall extends CallOptions {
  path?: Record<string, string>;
  /** With or without the question mark. */
  query?: string;
}

type Body = Record<string, unknown>;

interface Options {
  /**
   * A request that the operation accepts. If they are left out, its body is the contract's first example, and its path names a
   * record that the POST of the collection has created, if there is one. A function is called for each request, and creates
   * what a single request needs.
   */
  valid?: {
    body?: Body | ((frame: Frame) => Promise<Body>);
    path?: MadePath | ((frame: Frame) => Promise<MadePath>);
  };
  start?: TestServiceOptions;
  /** Statuses without a test yet, with what there is to do. They are listed as such, and not demanded. */
  todo?: Readonly<Record<number, string>>;
}

export function describeOperation(id: OperationId, options: Options, tests: (frame: Frame) => void): void {
  const operation: Operation = operations[id];
  const { method, scopes } = operation;
  const makeRecord = options.valid?.path === undefined ? recordMaker(operation.path) : undefined;
  const { path: validPath = makeRecord ?? {}, body: validBody } = options.valid ?? {};
  const makeBody = (): unknown =>
    typeof validBody === 'function' ? validBody(frame) : (validBody ?? exampleBody(id));
  const makePath = async (given?: MadePath) =>
    typeof validPath === 'function' ? (given ?? (await validPath(frame))) : { ...validPath, ...given };
  /** A valid request, which can be sent more than once. */
  const makeValid = async () => ({ path: await makePath(), body: await makeBody() });
  // The record that a fixed path names may not exist.
  const isFixed = operation.path.includes('{') && typeof validPath !== 'function';
  const accepted = [operation.statuses[0], ...(isFixed ? [404] : [])];
  const scope = scopes[0] ?? '';
  const verb = method.toUpperCase();
  const frame = {} as Frame;
  const trouble: Trouble = { now: 'none' };

  let works = true;
  // Of every test in the file, because almost all of them would fail for the same reason.
  beforeEach(({ skip }) => {
    skip(!works, 'The operation refuses a valid request: see the first test.');
  });

  describe(`${id}: ${verb} ${operation.path}`, () => {
    beforeAll(async () => {
      forgetObserved();
      const start = options.start ?? {};
      frame.service = await startTestService({
        ...start,
        handlers: withTrouble(start.handlers ?? handlers, id, trouble),
      });
      frame.db = frame.service.service.database.db;
      frame.secrets = frame.service.secrets;
      frame.call = async ({ path, query = '', ...rest } = {}) => {
        const body = 'body' in rest || 'raw' in rest ? undefined : await makeBody();
        const search = query.replace(/^(?=[^?])/, '?');
        return frame.service.call(verb, examplePath(id, await makePath(path)) + search, {
          token: frame.service.token(scope),
          ...(body !== undefined && { body }),
          ...rest,
        });
      };
    });
    afterAll(async () => {
      await frame.service[Symbol.asyncDispose]();
    });

    it('accepts a valid request; otherwise the other tests are skipped', async () => {
      works = false;
      const { status } = await frame.call();
      expect(accepted, mustSucceed).toContain(status);
      works = true;
    });

    tests(frame);

    const todo = options.todo ?? {};
    for (const [status, what] of Object.entries(todo)) it.todo(`${status}: ${what}`);

    it('400 names an unknown query parameter', async () => {
      const { status, body } = await frame.call({ query: 'unicorn=1' });
      expect(status).toBe(400);
      expect(body).toMatchObject({
        details: [{ location: 'query', pointer: '/unicorn', type: 'value_error.extra' }],
      });
    });

    describe('401 for a token that is not valid', () => {
      it.each([
        ['no token', undefined],
        ['no JWT', 'unicorn'],
      ])('%s', async (_name, token) => {
        const { status, body } = await frame.call({ token });
        expect(status).toBe(401);
        expect(body).toMatchObject({
          code: 'unauthorized',
          message: 'No valid API authentication found',
          details: [],
        });
      });
    });

    describe('403 for a caller that lacks permission', () => {
      it('a token without the scope', async () => {
        const { status, body, text } = await frame.call({
          token: frame.service.token('unicorns.read', 'unicorns.write'),
        });
        expect(status).toBe(403);
        const told = { location: 'header', pointer: '/authorization', type: 'value_error.scope' };
        expect(body).toMatchObject({ code: 'forbidden', details: [told] });
        expect(text).toContain(`needs a token with the scope ${scope}`);
      });

      it('a pair whose roles do not allow it, whatever the token says', async () => {
        const pair = await frame.service.pair({ allow: ['unicorns.read'] });
        expect((await frame.call({ token: pair.token(scope, '*.read', '*.write') })).status).toBe(403);
      });
    });

    if (operation.merchantScope !== 'none') {
      describe('404 for a merchant account without access', () => {
        it('answers alike for one that does not exist and one that is not allowed', async () => {
          const pair = await frame.service.pair({ accounts: ['marketplace'] });
          const answers = await Promise.all(
            ['no-such-account', 'default'].map((account) =>
              frame.call({ token: pair.token(scope), headers: { 'X-Service-Merchant-Account-ID': account } }),
            ),
          );
          expect(answers.map(({ status }) => status)).toEqual([404, 404]);
          expect(answers[0]?.text).toBe(answers[1]?.text);
        });
      });
    }

    if (typeof validPath === 'function' && operation.merchantScope === 'one') {
      describe('404 for a record that the merchant account does not have', () => {
        const expectNotFound = async (options: FrameCall, skip: TestContext['skip']) => {
          const { status, headers } = await frame.call(options);
          skip(headers.has('X-Contract-Example'), 'The handler is a stub, which finds every record.');
          expect(status).toBe(404);
        };

        it('one that does not exist', ({ skip }) => expectNotFound({ path: {} }, skip));

        it('one of another merchant account', async ({ skip }) => {
          const path = await makePath();
          await expectNotFound({ path, headers: { 'X-Service-Merchant-Account-ID': 'marketplace' } }, skip);
          expect((await frame.call({ path })).status).toBe(operation.statuses[0]);
        });
      });
    }

    it('405 for another method, before anything else is looked at', async () => {
      const path = examplePath(id, await makePath());
      for (const other of undeclaredAt(operation.path)) {
        const { status, headers } = await frame.service.call(other, path);
        expect([other, status]).toEqual([other, 405]);
        expect(headers.get('allow')?.split(', ')).toContain(verb);
      }
    });

    if (method !== 'get') {
      it('425 for early data, before the token is looked at', async () => {
        const { status, body } = await frame.call({ token: undefined, headers: { 'Early-Data': '1' } });
        expect(status).toBe(425);
        expect(body).toMatchObject({ code: 'too_early' });
      });
    }

    if (operation.takesKey) {
      it('an Idempotency-Key makes the request repeatable: the same answer again, marked', async () => {
        const request = { ...(await makeValid()), headers: { 'Idempotency-Key': `${id} repeated` } };
        const [first, second] = [await frame.call(request), await frame.call(request)];
        expect(accepted, mustSucceed).toContain(first.status);
        expect(second.text).toBe(first.text);
        expect([first, second].map((one) => one.headers.get('idempotency-replayed'))).toEqual([
          'false',
          'true',
        ]);
      });
    }

    if (operation.takesKey) {
      const all = Object.entries(operations) as [OperationId, Operation][];
      const [otherId, other] =
        all.find(([one, { takesKey, path }]) => one !== id && takesKey && !path.includes('{')) ?? [];
      if (otherId && other)
        it(`422 for an Idempotency-Key that ${otherId} was sent with`, async () => {
          const headers = { 'Idempotency-Key': `${id} reused` };
          const token = frame.service.token(...other.scopes);
          await frame.service.call('POST', other.path, { token, headers, body: exampleBody(otherId) });
          expect((await frame.call({ headers })).status).toBe(422);
        });
    }

    if (parametersOf(id).some(({ name }) => name === 'cursor')) {
      it('422 for a cursor that was not issued for this list', async ({ skip }) => {
        const { status, headers } = await frame.call({ query: 'cursor=foreign' });
        skip(headers.has('X-Contract-Example'), 'The handler is a stub, which reads no cursor.');
        expect(status).toBe(422);
      });
    }

    it('500 for a crash in the handler tells the caller nothing and the log everything', async () => {
      trouble.now = 'crash';
      const token = frame.service.token(scope);
      const { status, text, headers } = await frame.call({ token }).finally(() => (trouble.now = 'none'));
      expect(status).toBe(500);
      expect(text).not.toContain('roof');
      const line = frame.service.logs.findLast((entry) => entry.includes('the roof is on fire'));
      expect(line).toContain(headers.get('x-request-id'));
      expect(frame.service.logs.join('')).not.toContain(token);
    });

    it('504 for a database that goes away says when to come back, and is one warning in the log', async () => {
      trouble.now = 'outage';
      const { status, body, headers } = await frame.call().finally(() => (trouble.now = 'none'));
      expect(status).toBe(504);
      expect(body).toMatchObject({ code: 'gateway_timeout', details: [] });
      expect(headers.get('retry-after')).toBe('2');
      const lines = frame.service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
      const own = lines.filter(({ requestId }) => requestId === headers.get('x-request-id'));
      const reason = 'terminating connection due to administrator command';
      expect(own).toEqual([
        expect.objectContaining({ level: 40, status: 504, code: 'gateway_timeout', reason }),
      ]);
    });

    it('every declared status was seen', () => {
      const isDemanded = (status: number) => !operation.reserved.includes(status) && !(status in todo);
      const seen = observed(id);
      const missing = operation.statuses.filter((status) => isDemanded(status) && !seen.includes(status));
      expect(missing, missedStatuses(id, missing)).toEqual([]);
    });
  });
}

/** OPTIONS is no method of any path: at least one is left. */
function undeclaredAt(path: string): string[] {
  const declared = Object.values<Operation>(operations).filter((one) => one.path === path);
  const isFree = (other: string) => !declared.some(({ method }) => method.toUpperCase() === other);
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(isFree);
}

const missedStatuses = (id: OperationId, missing: readonly number[]) =>
  `No test has seen these statuses, which the contract declares for ${id}: ${missing.join(', ')}. ` +
  'Write a test for each, list it below `todo`, or take it out of the contract';

interface Trouble {
  now: 'none' | 'crash' | 'outage';
}

/** The same handlers, but one of them is in trouble while that is set. */
function withTrouble(given: Handlers<WriteDeps>, id: OperationId, trouble: Trouble): Handlers<WriteDeps> {
  const handler = given[id] as (input: unknown, deps: WriteDeps) => Promise<unknown>;
  const troubled = async (input: unknown, deps: WriteDeps) => {
    if (trouble.now === 'crash') throw new Error('the roof is on fire');
    // What PostgreSQL does with every session when it is stopped.
    if (trouble.now === 'outage') await sql`select pg_terminate_backend(pg_backend_pid())`.execute(deps.db);
    return handler(input, deps);
  };
  return { ...given, [id]: troubled };
}
