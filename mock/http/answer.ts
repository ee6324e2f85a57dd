// The response: what the Prefer header selects, or else what the values of the request lead to. Prism produces it, and it is
// validated against the contract like every response of the server.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { errors } from '../../generated/operations.ts';
import { ApiError } from '../../server/errors.ts';
import { send } from '../../server/http/answer.ts';
import { claimOf, createOnce } from '../../server/http/idempotency.ts';
import type { SentAnswer } from '../../server/resources/idempotency-keys/rules.ts';
import { deriveKeys } from '../../server/secrets/derive-keys.ts';
import { createKeptAnswers } from '../kept-answers.ts';
import { chooseOutcome } from '../outcomes/index.ts';
import { isIgnored, readPreference, type Preference } from '../prefer.ts';
import type { PrismResponse } from '../prism.ts';
import type { MockContext, Step } from './context.ts';
import { rebaseUrls } from './pages.ts';

export interface AnswerOptions {
  /** The mock's own URL, for links in response bodies. */
  address: () => string;
  now: () => Date;
}

/** Not a secret: the mock keeps nothing that must be kept from somebody. It knows no key pairs: all callers are one. */
const keys = deriveKeys(Buffer.from('mock'));
const keysOf = () => Promise.resolve(keys);
const keyPairId = '';

export function createAnswer({ address, now }: AnswerOptions): Step {
  const once = createOnce<never>();
  const kept = createKeptAnswers(now);
  return async (context, req, res) => {
    const preference = readPreference(preferOf(req), context.operation);
    const run = () => respond(context, req, res, preference);
    // Whoever chooses the answer does not want an earlier one.
    const claim =
      preference || !context.operation.takesKey
        ? undefined
        : await claimOf(keysOf, context.selection, keyPairId, req);
    context.why = 'the answer to an earlier request with this Idempotency-Key';
    send(res, await (claim ? once({ kept, claim, res, work: run }) : run()));
  };

  async function respond(
    context: MockContext,
    req: Request,
    res: Response,
    preference: Preference | undefined,
  ): Promise<SentAnswer> {
    const { contract, operation } = context;
    let response: PrismResponse;
    if (preference) {
      context.why = `Prefer: ${preference.applied}`;
      response = await (preference.dynamic
        ? generate(context, preference)
        : contract.prism(operation, preference));
      res.setHeader('Preference-Applied', preference.applied);
    } else {
      const outcome = chooseOutcome({
        operation,
        query: req.query,
        body: req.body,
        account: context.selection,
        scopes: context.caller.scopes,
        now: now(),
      });
      const ignored = '; Prefer ignored, it has no code, example or dynamic';
      context.why = outcome.why + (isIgnored(preferOf(req)) ? ignored : '');
      if (outcome.delayMilliseconds) await sleep(outcome.delayMilliseconds);
      response = await contract.prism(operation, outcome);
      if (outcome.fillExample) response.body = outcome.fillExample(response.body);
    }
    const fault = contract.responses.fault(operation.id, response.status, response.body);
    if (fault)
      throw new ApiError('server_error', { reason: `the mock's response breaks the contract: ${fault}` });
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter(([name]) => !setByMock.has(name.toLowerCase())),
    );
    if (response.status === 405) headers.Allow = context.allow;
    if (preference?.retryAfter !== undefined) headers['Retry-After'] = preference.retryAfter;
    const text = response.body === undefined ? '' : JSON.stringify(response.body);
    // What was asked for with Prefer is sent as the contract has it.
    const sent = preference ? text : rebaseUrls(contract.document, text, address());
    return { status: response.status, headers, text: sent };
  }
}

// The mock sets these headers itself; Prism would send the contract's example values, and `deprecation: true`.
const setByMock = new Set(['x-request-id', 'content-type', 'allow', 'idempotency-replayed', 'deprecation']);

const preferOf = ({ headers: { prefer } }: Request) => (Array.isArray(prefer) ? prefer.join(',') : prefer);

const maxTries = 5;

// Prism ignores some keywords (such as `unevaluatedProperties`), so generated values may break the contract. Retry, then
// fall back to the example.
async function generate(context: MockContext, preference: Preference): Promise<PrismResponse> {
  const { contract, operation } = context;
  const { status } = preference;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const response = await contract.prism(operation, preference);
    const body = withOwnStatus(status, response.body);
    if (contract.responses.fault(operation.id, status, body) === undefined) return { ...response, body };
  }
  context.why += '; no generated value matched the contract, so the example was used';
  return contract.prism(operation, { status });
}

/** Without this, Prism could put the code and status of another error into the body. */
function withOwnStatus(status: number, body: unknown): unknown {
  const [code, error] = Object.entries(errors).find(([, known]) => known.status === status) ?? [];
  return error ? { ...(body as object), type: 'error', code, ...error } : body;
}
