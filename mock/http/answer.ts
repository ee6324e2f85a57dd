// The response: what the caller asks for, or what is set for the operation, or else what the values of the request lead to. Prism
// produces it, and it is validated against the contract like every response of the server.
import type { Response } from 'express';
import { ApiError } from '../../server/kit/errors.ts';
import { send } from '../../server/kit/http/answer.ts';
import type { Selected, Validated } from '../../server/kit/http/known.ts';
import { check } from '../../server/kit/http/pipeline.ts';
import { claimOf, createOnce, type KeepAnswer } from '../../server/kit/idempotency/once.ts';
import type { SentAnswer } from '../../server/kit/idempotency/rules.ts';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import type { Answers } from '../answers.ts';
import { createKeptAnswers } from '../kept-answers.ts';
import { chooseOutcome } from '../outcomes/index.ts';
import {
  largestSeed,
  readPreference,
  type Asked,
  type Choice,
  type Dynamic,
  type Preference,
} from '../prefer.ts';
import type { PrismResponse } from '../prism.ts';
import type { Delay } from './delay.ts';
import { trailOf, type Authenticated, type Loaded, type Routed } from './known.ts';
import { rebaseUrls } from './pages.ts';

export interface AnswerOptions {
  /** The mock's own URL, for links in response bodies. */
  address: () => string;
  delay: Delay;
  now: () => Date;
  answers: Answers;
  dynamic: Dynamic | undefined;
}

interface Chosen extends Choice {
  seed?: number | undefined;
  /** For the log. */
  why: string;
}

/** Not a secret: the mock keeps nothing that must be kept from somebody. It knows no key pairs: all callers are one. */
const keys = deriveKeys(Buffer.from('mock'));
const keysOf = () => Promise.resolve(keys);
const keyPairId = '';

type Known = Loaded & Routed & Authenticated & Selected & Validated & { asked: Asked; ignored: boolean };

export function createAnswer({ address, delay, now, answers, dynamic }: AnswerOptions) {
  const once = createOnce<never>();
  const kept = createKeptAnswers(now);
  return check('answered', async (known: Known, req, res) => {
    const { operation, asked } = known;
    const preference = readPreference(asked, operation, dynamic);
    if (preference) res.setHeader('Preference-Applied', preference.says);
    const set = preference?.choice ? undefined : answers.take(operation.id);
    await delay(res, preference?.delayMilliseconds ?? set?.delayMilliseconds ?? 0);
    const chosen = choose(preference, asked.how) ?? choose(set, `set for ${operation.id}`);
    const byDefault = preference?.isStatic || set?.isStatic ? undefined : dynamic;
    const run = () => respond(known, res, chosen ?? madeUp(operation, byDefault));
    // Whoever chooses the answer does not want an earlier one.
    const claim = chosen || !operation.takesKey ? undefined : await claimOf(keysOf, known, keyPairId, req);
    trailOf(res).why = 'the answer to an earlier request with this Idempotency-Key';
    const work = async (keepAnswer: KeepAnswer<never>) => {
      const answer = await run();
      await keepAnswer(answer);
      return answer;
    };
    send(res, await (claim ? once({ kept, claim, res, work }) : run()));
  });

  async function respond(known: Known, res: Response, chosen: Chosen | undefined): Promise<SentAnswer> {
    const { contract, operation, input } = known;
    const trail = trailOf(res);
    let response: PrismResponse;
    if (chosen) {
      trail.why = chosen.why;
      response = await contract.prism(operation, chosen);
      if ('body' in chosen) response.body = chosen.body;
    } else {
      const outcome = chooseOutcome({
        operation,
        query: input.query,
        body: input.body,
        account: known.selection,
        scopes: known.caller.scopes,
        now: now(),
      });
      const ignored = '; Prefer ignored, it has no code, example, dynamic or delay';
      trail.why = outcome.why + (known.ignored ? ignored : '');
      await delay(res, outcome.delayMilliseconds ?? 0);
      response = await contract.prism(operation, outcome);
      if (outcome.fillExample) response.body = outcome.fillExample(response.body);
    }
    const fault = contract.responses.fault(operation.id, response.status, response.body);
    if (fault)
      throw new ApiError('server_error', { reason: `the mock's response breaks the contract: ${fault}` });
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter(([name]) => !setByMock.has(name.toLowerCase())),
    );
    if (response.status === 405) headers.Allow = known.allow;
    if (chosen?.retryAfter !== undefined) headers['Retry-After'] = chosen.retryAfter;
    const text = response.body === undefined ? '' : JSON.stringify(response.body);
    // What was asked for is sent as the contract has it.
    const sent = chosen ? text : rebaseUrls(contract.document, text, address());
    return { status: response.status, headers, text: sent };
  }
}

/** For callers that ask for nothing. */
const madeUp = ({ successStatus: status }: Routed['operation'], dynamic: Dynamic | undefined) =>
  dynamic && choose({ choice: { status, seed: dynamic.seed ?? 'any' }, says: '--dynamic' }, 'option');

/** The log tells a seed that nobody gave, so that what was found with it can be found again. */
function choose(asked: Pick<Preference, 'choice' | 'says'> | undefined, how: string): Chosen | undefined {
  if (!asked?.choice) return undefined;
  const { seed, ...choice } = asked.choice;
  const why = `${how}: ${asked.says}`;
  if (seed !== 'any') return { ...choice, seed, why };
  const drawn = Math.floor(Math.random() * largestSeed);
  return { ...choice, seed: drawn, why: `${why}; again with dynamic=true, seed=${drawn}` };
}

// The mock sets these headers itself; Prism would send the contract's example values, and `deprecation: true`.
const setByMock = new Set(['x-request-id', 'content-type', 'allow', 'idempotency-replayed', 'deprecation']);
