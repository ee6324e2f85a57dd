// The response: what the Prefer header selects, or else what the values of the request lead to. Prism produces it, and it is
// validated against the contract like every response of the server.
import type { Request, Response } from 'express';
import { ApiError } from '../../server/kit/errors.ts';
import { send } from '../../server/kit/http/answer.ts';
import type { Selected, Validated } from '../../server/kit/http/known.ts';
import { check } from '../../server/kit/http/pipeline.ts';
import { claimOf, createOnce, type KeepAnswer } from '../../server/kit/idempotency/once.ts';
import type { SentAnswer } from '../../server/kit/idempotency/rules.ts';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import { createKeptAnswers } from '../kept-answers.ts';
import { chooseOutcome } from '../outcomes/index.ts';
import { isIgnored, readPreference, type Preference } from '../prefer.ts';
import type { PrismResponse } from '../prism.ts';
import type { Delay } from './delay.ts';
import { trailOf, type Authenticated, type Loaded, type Routed } from './known.ts';
import { rebaseUrls } from './pages.ts';

export interface AnswerOptions {
  /** The mock's own URL, for links in response bodies. */
  address: () => string;
  delay: Delay;
  now: () => Date;
}

/** Not a secret: the mock keeps nothing that must be kept from somebody. It knows no key pairs: all callers are one. */
const keys = deriveKeys(Buffer.from('mock'));
const keysOf = () => Promise.resolve(keys);
const keyPairId = '';

type Known = Loaded & Routed & Authenticated & Selected & Validated;

export function createAnswer({ address, delay, now }: AnswerOptions) {
  const once = createOnce<never>();
  const kept = createKeptAnswers(now);
  return check('answered', async (known: Known, req, res) => {
    const { operation } = known;
    const preference = readPreference(preferOf(req), operation);
    if (preference) {
      res.setHeader('Preference-Applied', preference.applied);
      await delay(res, preference.delayMilliseconds);
    }
    const run = () => respond(known, req, res, preference);
    // Whoever chooses the answer does not want an earlier one.
    const claim =
      preference?.choice || !operation.takesKey ? undefined : await claimOf(keysOf, known, keyPairId, req);
    trailOf(res).why = 'the answer to an earlier request with this Idempotency-Key';
    const work = async (keepAnswer: KeepAnswer<never>) => {
      const answer = await run();
      await keepAnswer(answer);
      return answer;
    };
    send(res, await (claim ? once({ kept, claim, res, work }) : run()));
  });

  async function respond(
    known: Known,
    req: Request,
    res: Response,
    preference: Preference | undefined,
  ): Promise<SentAnswer> {
    const { contract, operation, input } = known;
    const trail = trailOf(res);
    const choice = preference?.choice;
    let response: PrismResponse;
    if (choice) {
      trail.why = `Prefer: ${preference.applied}`;
      response = await contract.prism(operation, choice);
    } else {
      const outcome = chooseOutcome({
        operation,
        query: input.query,
        body: input.body,
        account: known.selection,
        scopes: known.caller.scopes,
        now: now(),
      });
      const ignored = '; Prefer ignored, it has no code, example or delay';
      trail.why = outcome.why + (isIgnored(preferOf(req)) ? ignored : '');
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
    if (choice?.retryAfter !== undefined) headers['Retry-After'] = choice.retryAfter;
    const text = response.body === undefined ? '' : JSON.stringify(response.body);
    // What was asked for with Prefer is sent as the contract has it.
    const sent = choice ? text : rebaseUrls(contract.document, text, address());
    return { status: response.status, headers, text: sent };
  }
}

// The mock sets these headers itself; Prism would send the contract's example values, and `deprecation: true`.
const setByMock = new Set(['x-request-id', 'content-type', 'allow', 'idempotency-replayed', 'deprecation']);

const preferOf = ({ headers: { prefer } }: Request) => (Array.isArray(prefer) ? prefer.join(',') : prefer);
