// Runs the handler and sends its answer. The answer is validated against the contract first; that of a write before its unit
// of work commits, which also keeps it for the case that the request is repeated with the same Idempotency-Key.
import type { Request, Response } from 'express';
import type { Handler, Handlers, Input, OperationId } from '../../generated/operations.ts';
import { writeBody, type ResponseCheck } from '../contract/responses.ts';
import type { Db } from '../database/database.ts';
import type { CountCall } from '../database/rate-limits.ts';
import type { Work } from '../database/unit-of-work.ts';
import { ApiError, errorBody } from '../errors.ts';
import type { AnyAnswer, WriteDeps } from '../handlers/deps.ts';
import type { KeptAnswers, SentAnswer } from '../resources/idempotency-keys/rules.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import { repeatedRefusal } from './access-log.ts';
import { claimOf, createOnce, refusalLimit } from './idempotency.ts';
import type { LimitVelocity } from './limits.ts';
import type { Context, Step } from './step.ts';

interface AnswerDeps {
  handlers: Handlers<WriteDeps>;
  responses: ResponseCheck;
  /** What the handler of this request receives. `beforeCommit` throws if the answer of a write breaks the contract. */
  depsOf: (context: Context, beforeCommit: (answer: AnyAnswer, unit: Work) => Promise<void>) => WriteDeps;
  /** Its functions throw if the request exceeds a velocity limit. */
  limitVelocity: LimitVelocity;
  keysOf: (db: Db, account: string | null) => Promise<DigestKeys>;
  keptFor: (db: Db) => KeptAnswers<Work>;
  countCall: CountCall;
}

type Keep = (answer: SentAnswer, unit: Work) => Promise<void>;

export function createAnswer(deps: AnswerDeps): Step {
  const once = createOnce<Work>();
  return async (context, req, res) => {
    const { keysOf, keptFor, limitVelocity, countCall } = deps;
    const { quickDb, caller } = context;
    const claim = context.operation.takesKey
      ? await claimOf((account) => keysOf(quickDb, account), context.selection, caller.keyPairId, req)
      : undefined;
    if (!claim) {
      const { status, headers = {}, body } = await runHandler(deps, context, req);
      send(res, { status, headers, text: writeBody(body) });
      return;
    }
    const answer = await once({
      kept: keptFor(quickDb),
      claim,
      res,
      beforeTelling: (isRepeated) => limitVelocity.numbers(context, req.body, isRepeated),
      keepsRefusal: async () => (await countCall(quickDb, refusalLimit, caller.keyPairId)) === undefined,
      work: (keep) => runToKeep(deps, context, req, keep),
    });
    if (answer.status >= 400) context.refusal = repeatedRefusal(answer.text);
    send(res, answer);
  };
}

async function runToKeep(deps: AnswerDeps, context: Context, req: Request, keep: Keep): Promise<SentAnswer> {
  try {
    return inText(await runHandler(deps, context, req, keep));
  } catch (error) {
    // A refusal is kept, so it must be one that can be sent.
    if (error instanceof ApiError)
      requireValid(deps, context, { status: error.status, body: errorBody(error.code, error.facts) });
    throw error;
  }
}

async function runHandler(deps: AnswerDeps, context: Context, req: Request, keep?: Keep): Promise<AnyAnswer> {
  // Here and not before: a repeated answer does not count.
  await deps.limitVelocity.cards(context, req.body);
  let validated: AnyAnswer | undefined;
  const own = deps.depsOf(context, async (answer, unit) => {
    requireValid(deps, context, answer);
    validated = answer;
    await keep?.(inText(answer), unit);
  });
  const handle = deps.handlers[context.operation.id] as Handler<OperationId, WriteDeps>;
  const input = { path: context.path, query: req.query, body: req.body as unknown };
  const answer: AnyAnswer = await handle(input as unknown as Input<OperationId>, own);
  if (answer !== validated) requireValid(deps, context, answer);
  return answer;
}

function requireValid({ responses }: AnswerDeps, { operation }: Context, { status, body }: AnyAnswer): void {
  const fault = responses.fault(operation.id, status, body);
  if (fault) throw new ApiError('server_error', { reason: `the answer breaks the contract: ${fault}` });
}

const inText = ({ status, headers = {}, body }: AnyAnswer): SentAnswer => ({
  status,
  headers,
  text: writeBody(body).toString(),
});

/** A list is sent as bytes, because the database wrote its items. */
export function send(
  res: Response,
  { status, headers, text }: Omit<SentAnswer, 'text'> & { text: string | Buffer },
): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.statusCode = status;
  // The contract declares it without content: a 204, which has neither a type nor a length.
  if (text === '') {
    res.end();
    return;
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  // With a known length Node writes the head and the body at once.
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
