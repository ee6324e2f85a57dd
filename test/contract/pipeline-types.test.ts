// The compiler knows the order of the checks: a step that comes before what it needs does not compile.
import { describeTypes, type Piece } from '../support/types.ts';

const head = `
import type { permission } from '../../server/kit/access/permission.ts';
import type { createAnswer } from '../../server/kit/http/answer.ts';
import type { createBearer } from '../../server/kit/access/bearer.ts';
import type { createBody } from '../../server/kit/http/body.ts';
import type { createOwned, createUnowned } from '../../server/kit/http/databases.ts';
import type { createExpress } from '../../server/kit/http/express.ts';
import { earlyData, requestId, wellFormed } from '../../server/kit/http/headers.ts';
import type { createWaitForStart } from '../../server/kit/http/health.ts';
import type { Arrived, Routed } from '../../server/kit/http/known.ts';
import type { createRateLimit } from '../../server/kit/http/limits.ts';
import type { createMerchantAccount } from '../../server/kit/access/select.ts';
import { check, forEvery, knowing, pipeline, whereOnly, type Step } from '../../server/kit/http/pipeline.ts';
import type { createRoute } from '../../server/kit/http/route.ts';
import type { createValidate } from '../../server/kit/http/validate.ts';
declare const app: ReturnType<typeof createExpress>;
declare const started: ReturnType<typeof createWaitForStart>;
declare const unowned: ReturnType<typeof createUnowned>;
declare const route: ReturnType<typeof createRoute<Arrived, Routed>>;
declare const bearer: ReturnType<typeof createBearer>;
declare const permitted: typeof permission;
declare const account: ReturnType<typeof createMerchantAccount<Arrived>>;
declare const owned: ReturnType<typeof createOwned>;
declare const rateLimit: ReturnType<typeof createRateLimit>;
declare const body: ReturnType<typeof createBody<Routed>>;
declare const validate: ReturnType<typeof createValidate<object>>;
declare const answer: ReturnType<typeof createAnswer>;
const arrived = pipeline().step(requestId).step(started).step(unowned);
const early = arrived.step(wellFormed).step(route).step(earlyData);
const authenticated = early.step(bearer);
const selected = authenticated.step(permitted).step(account);
const counted = selected.step(owned).step(rateLimit);
`;

/** `path` are the steps before; `missing` is what the compiler says that nobody has found. */
const tooEarly = (name: string, path: string, step: string, missing: string): Piece => ({
  name: `${name} does not compile`,
  code: `export const wrong = ${path}.step(${step});`,
  fault: new RegExp(`Property '${missing}' is missing|missing the following properties .*: ${missing}\\b`),
});

const pieces: Piece[] = [
  {
    name: 'the order of the service compiles',
    code: `export const all = whereOnly(() => true, counted.step(body).step(validate).step(answer));`,
  },
  tooEarly('permission before bearer', 'early', 'permitted', 'caller'),
  tooEarly('account before permission', 'authenticated', 'account', 'permitted'),
  tooEarly('rate limit before account', 'authenticated.step(permitted)', 'rateLimit', 'owner'),
  tooEarly('handler before validation', 'counted.step(body)', 'answer', 'input'),
  tooEarly(
    'the database of an owner before the account',
    'authenticated.step(permitted)',
    'owned',
    'selection',
  ),
  tooEarly('body before rate limit', 'selected.step(owned)', 'body', 'counted'),
  tooEarly('validation before body', 'counted', 'validate', 'parsed'),
  tooEarly('bearer before early data', 'arrived.step(wellFormed).step(route)', 'bearer', 'notEarly'),
  tooEarly('early data before route', 'arrived.step(wellFormed)', 'earlyData', 'operation'),
  tooEarly('route before the check of the HTTP', 'arrived', 'route', 'wellFormed'),
  {
    name: 'requests that nobody answers do not compile',
    code: `export const wrong = whereOnly(() => true, counted.step(body).step(validate));`,
    fault: /answered/,
  },
  {
    name: 'what is known is not found a second time',
    code: `
      const again: Step<object, { requestId: string }> = () => ({ requestId: '' });
      export const wrong = arrived.step(again);`,
    fault: /requestId/,
  },
  {
    name: 'nor is a check made a second time',
    code: `export const wrong = authenticated.step(permitted).step(permitted);`,
    fault: /permitted/,
  },
  {
    name: 'a mark has no value that a step could read or make',
    code: `
      export const read = check('read', ({ permitted }: { permitted: true }) => undefined);
      export const wrong = authenticated.step(permitted).step(read);`,
    fault: /permitted/,
  },
  {
    name: 'a page knows what was found out for every request, and no more',
    code: `
      export const page = knowing(forEvery(app, arrived), ({ unownedDb }) => void unownedDb);
      export const wrong = knowing(forEvery(app, arrived), ({ caller }) => void caller);`,
    fault: /^\S+ Property 'caller' does not exist/,
  },
];

describeTypes('the order of the checks', head, pieces);
