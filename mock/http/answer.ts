// The answer: what the caller prefers, or else what the values of the request lead to. Prism makes it, and it is held against
// the contract like any answer of the server.
import { setTimeout as wait } from 'node:timers/promises';
import type { Request, RequestHandler } from 'express';
import { errors } from '../../generated/operations.ts';
import { ApiError } from '../../server/errors.ts';
import type { MockOperation } from '../operations.ts';
import { choose } from '../outcomes/index.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import { readPreference, type Preference } from '../prefer.ts';
import type { Made } from '../prism.ts';
import type { Reading } from '../reading.ts';
import { rebase } from './pages.ts';
import { visitOf, type Visit } from './context.ts';

export interface AnswerOptions {
  /** Where the mock is reached, for links in answers. */
  address: () => string;
  now: () => Date;
}

export const createAnswer =
  ({ address, now }: AnswerOptions): RequestHandler =>
  async (req, res) => {
    const visit = visitOf(res);
    const { reading, operation } = visit;
    const preference = readPreference(preferOf(req), operation);
    let made: Made;
    if (preference) {
      visit.why = `Prefer: ${preference.applied}`;
      made = await (preference.dynamic ? makeUp(visit, preference) : reading.prism(operation, preference));
      res.setHeader('Preference-Applied', preference.applied);
    } else {
      const outcome = choose({
        operation,
        query: req.query,
        body: req.body,
        account: visit.selection,
        now: now(),
      });
      visit.why = outcome.why;
      if (outcome.waitMilliseconds) await wait(outcome.waitMilliseconds);
      made = await follow(reading, operation, outcome);
      made.body = rebase(reading.document, made.body, address());
    }
    const fault = reading.responses.fault(operation.id, made.status, made.body);
    if (fault) throw new ApiError('server_error', { reason: `the mock's answer breaks the contract: ${fault}` });
    for (const [name, value] of Object.entries(made.headers))
      if (!own.has(name.toLowerCase())) res.setHeader(name, value);
    if (made.status === 405) res.setHeader('Allow', visit.allow);
    res.status(made.status).json(made.body);
  };

// Said by the front itself: what stands in the contract's example of a header is only an example.
const own = new Set(['x-request-id', 'content-type', 'allow']);

const preferOf = ({ headers: { prefer } }: Request) => (Array.isArray(prefer) ? prefer.join(',') : prefer);

async function follow(reading: Reading, operation: MockOperation, outcome: Outcome): Promise<Made> {
  const made = await reading.prism(operation, outcome);
  return outcome.carry ? { ...made, body: outcome.carry(made.body) } : made;
}

// Prism does not know every keyword (`unevaluatedProperties`, for one), so what it makes up is held against the contract: a
// few tries, and then the example does.
async function makeUp(visit: Visit, preference: Preference): Promise<Made> {
  const { reading, operation } = visit;
  const { status } = preference;
  for (let tries = 0; tries < 5; tries += 1) {
    const made = await reading.prism(operation, preference);
    const body =
      coherent(status, made.body);
    if (reading.responses.fault(operation.id, status, body) === undefined) return { ...made, body };
  }
  visit.why += ', but nothing that was made up matched the contract, so the example';
  return reading.prism(operation, { status });
}

/** Status, code and message of an error that Prism made up belong together. */
function coherent(status: number, body: unknown): unknown {
  const [code, error] = Object.entries(errors).find(([, known]) => known.status === status) ?? [];
  return error ? { ...(body as object), type: 'error', code, ...error } : body;
}
