// An attacker who may store cards sees BIN, last four and fingerprint of a stored card, stores guesses and compares. Four
// digits are unknown, of which the check digit gives one: 1,000 guesses.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { openDatabase } from '../../server/kit/database/database.ts';
import { passesLuhn } from '../../server/kit/rules/card-numbers.ts';
import { recordNumbers } from '../../server/resources/number-limits/queries.ts';
import { triedNumber } from '../../server/resources/number-limits/rules.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Another one for each attack, in the middle of the guesses, so that it is not among the first ones by luck. */
let victim = '';
let bin = 42424200;
beforeEach(() => {
  bin += 1;
  victim = guessesFor({ details: { bin: String(bin) }, label: '4242', fingerprint: null })[500] ?? '';
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const { limit } = operations.createPaymentMethod.extensions['x-velocity-limit'].same_bin_and_last_four;

interface Shown {
  fingerprint: string | null;
  label: string;
  details: { bin: string };
}

interface Attack {
  account: string;
  /** What the guess differs in from a request of the victim. */
  body?: object;
  key?: string;
  /** The answer to guesses that the limit lets through. */
  passing: number;
}

const fail = (error: Error) => {
  throw error;
};

const store = ({ account, body = {}, key }: Omit<Attack, 'passing'>, number: string) =>
  service.call('POST', '/payment-methods', {
    token: service.token('payment-methods.write'),
    headers: { 'X-Service-Merchant-Account-ID': account, ...(key ? { 'Idempotency-Key': key } : {}) },
    body: { method: 'card', expiration_date: '12/39', number, ...body },
  });

/**
 * One guess after the other, as long as the limit allows them. Those that follow come at once, because the service holds each refusal
 * back. The right guess is among these.
 */
async function attack<Answer>(
  guesses: readonly string[],
  allowed: number,
  guess: (number: string) => Promise<Answer>,
) {
  expect(guesses.indexOf(victim)).toBeGreaterThanOrEqual(allowed);
  const through: Answer[] = [];
  for (const number of guesses.slice(0, allowed)) through.push(await guess(number));
  return { through, refused: await Promise.all(guesses.slice(allowed).map(guess)) };
}

const guessesFor = ({ details: { bin }, label }: Shown): string[] =>
  Array.from({ length: 10_000 }, (_, middle) => bin + String(middle).padStart(4, '0') + label).filter(
    passesLuhn,
  );

it.each<[string, Attack]>([
  ['inside one account', { account: 'default', passing: 201 }],
  ['across two accounts', { account: 'marketplace', passing: 201 }],
  ['with cards that fail', { account: 'default', body: { expiration_date: '01/20' }, passing: 201 }],
  // Nothing is stored, so these must be counted outside of the unit of work.
  ['with an unknown buyer', { account: 'default', body: { buyer_id: randomUUID() }, passing: 404 }],
  [
    'with an identifier that is taken',
    { account: 'default', body: { external_identifier: 'v' }, passing: 409 },
  ],
])('does not get the number %s', async (_name, { passing, ...request }) => {
  const stored = (await store({ account: 'default' }, victim)).body as Shown;
  // It is there after the first attack.
  await store({ account: 'default', body: { external_identifier: 'v' } }, '4111111111111111');
  const guesses = guessesFor(stored);
  expect(guesses).toHaveLength(1000);
  // Some before and after the right one are enough to see whether it is answered in another way.
  const right = guesses.indexOf(victim);
  // The victim's own number counts in its account.
  const allowed = request.account === 'default' ? limit - 1 : limit;
  const { through, refused } = await attack(
    guesses.slice(right - 30, right + 10),
    allowed,
    async (number) => {
      const { status, body } = await store(request, number);
      return { status, fingerprint: (body as Partial<Shown>).fingerprint, body };
    },
  );

  expect(new Set(through.map(({ status }) => status))).toEqual(new Set([passing]));
  expect(through.map(({ fingerprint }) => fingerprint)).not.toContain(stored.fingerprint);
  if ('body' in request && passing === 201)
    expect(new Set(through.map(({ fingerprint }) => fingerprint))).toEqual(new Set([null]));
  expect(refused).toHaveLength(40 - allowed);
  expect(new Set(refused.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(refused[0]?.status).toBe(429);
});

it('does not get the number with the Idempotency-Key of the request that stored it', async () => {
  const repeat = (number: string) => store({ account: 'default', key: 'order-1' }, number);
  const stored = await repeat(victim);
  const guesses = guessesFor(stored.body);
  const right = guesses.indexOf(victim);
  const { through, refused } = await attack(guesses.slice(right - 30, right + 10), limit - 1, repeat);

  expect(new Set(through.map(({ status }) => status))).toEqual(new Set([422]));
  expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(refused[0]?.status).toBe(429);
  expect(refused.map(({ headers }) => headers.get('Idempotency-Replayed'))).not.toContain('true');
  // Guesses without the key count together with those that have it.
  expect((await store({ account: 'default' }, victim)).status).toBe(429);
});

it('does not get the number with another difference that hides the guess', async () => {
  const others = guessesFor({ details: { bin: String(bin) }, label: '4242', fingerprint: null });
  await store({ account: 'default', key: 'order-2' }, victim);
  const hidden = { account: 'default', key: 'order-2', body: { expiration_date: '11/39' } };
  const answers = [];
  for (const number of others.slice(0, limit + 1)) answers.push(await store(hidden, number));
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(limit - 1).fill(422), 429, 429]);
});

// Without HTTP, so that all of them are there before the first one is counted.
it('does not get the number by guesses at the same time', async () => {
  const { db, close } = openDatabase(service.config.databaseUrl ?? '', fail, { waitMilliseconds: 60_000 });
  const stored = (await store({ account: 'default' }, victim)).body as Shown;
  const keys = await service.secrets.keysOf(db, 'default');
  const count = async (number: string) => {
    const tried = triedNumber(keys, number);
    const [wait] = await recordNumbers(db, [tried], { limit, windowSeconds: 86_400 });
    return wait;
  };
  const guesses = guessesFor(stored);
  const right = guesses.indexOf(victim);
  const waits = await Promise.all(guesses.slice(right - 30, right + 1).map(count));
  expect(waits.at(-1)).toBeGreaterThan(0);
  expect(waits.filter((wait) => wait === undefined)).toHaveLength(limit - 1);
  await close();
});
