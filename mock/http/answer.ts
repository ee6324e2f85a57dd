// The response: what the Prefer header selects, or else what the values of the request lead to. Prism produces it, and it is
// validated against the contract like every response of the server.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, RequestHandler } from 'express';
import { errors } from '../../generated/operations.ts';
import { ApiError } from '../../server/errors.ts';
import { chooseOutcome } from '../outcomes/index.ts';
import { readPreference, type Preference } from '../prefer.ts';
import type { PrismResponse } from '../prism.ts';
import { contextOf, type MockContext } from './context.ts';
import { rebaseUrls } from './pages.ts';

export interface AnswerOptions {
  /** The mock's own URL, for links in response bodies. */
  address: () => string;
  now: () => Date;
}

export const createAnswer =
  ({ address, now }: AnswerOptions): RequestHandler =>
  async (req, res) => {
    const context = contextOf(res);
    const { contract, operation } = context;
    const preference = readPreference(preferOf(req), operation);
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
        now: now(),
      });
      context.why = outcome.why;
      if (outcome.delayMilliseconds) await sleep(outcome.delayMilliseconds);
      response = await contract.prism(operation, outcome);
      if (outcome.fillExample) response.body = outcome.fillExample(response.body);
      response.body = rebaseUrls(contract.document, response.body, address());
    }
    const fault = contract.responses.fault(operation.id, response.status, response.body);
    if (fault)
      throw new ApiError('server_error', { reason: `the mock's response breaks the contract: ${fault}` });
    for (const [name, value] of Object.entries(response.headers))
      if (!setByMock.has(name.toLowerCase())) res.setHeader(name, value);
    if (response.status === 405) res.setHeader('Allow', context.allow);
    res.status(response.status).json(response.body);
  };

// The mock sets these headers itself; Prism would send the contract's example values.
const setByMock = new Set(['x-request-id', 'content-type', 'allow']);

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
