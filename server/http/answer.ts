// Runs the handler and sends its answer. The answer is validated against the contract first; that of a write before its unit
// of work commits, which also keeps it for the case that the request is repeated with the same Idempotency-Key.
import type { Response } from 'express';
import type { Handler, Handlers, Input, OperationId } from '../../generated/operations.ts';
import { writeBody, type ResponseCheck } from '../contract/responses.ts';
import type { Db } from '../database/database.ts';
import type { CountCall } from '../database/rate-limits.ts';
import type { Work } from '../database/unit-of-work.ts';
import { ApiError, errorBody } from '../errors.ts';
import type { AnyAnswer, WriteDeps } from '../handlers/deps.ts';
import type { KeptAnswers, SentAnswer } from '../resources/idempotency-keys/rules.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import { createOnce, keptRefusals, keyedBy, type Keep } from './idempotency.ts';
import type { LimitVelocity } from './limits.ts';
import type { Context, Step } from './step.ts';

/** Called with the answer of a write before its unit of work commits. Throws if it breaks the contract. */
type BeforeCommit = <A extends AnyAnswer>(answer: A, unit: Work) => Promise<A>;

export interface AnswerDeps {
  handlers: Handlers<WriteDeps>;
  responses: ResponseCheck;
  /** What the handler of this request receives. */
  depsOf: (context: Context, beforeCommit: BeforeCommit) => WriteDeps;
  /** Its functions throw if the request exceeds a velocity limit. */
  limitVelocity: LimitVelocity;
  keysOf: (db: Db, account: string | null) => Promise<DigestKeys>;
  keptFor: (db: Db) => KeptAnswers<Work>;
  countCall: CountCall;
}

export function createAnswer(options: AnswerDeps): Step {
  const once = createOnce<Work>();
  return async (context, req, res) => {
    const { handlers, responses, depsOf, limitVelocity, keysOf, keptFor, countCall } = options;
    const { db, caller } = context;
    const { id } = context.operation;
    const check = <A extends AnyAnswer>(answer: A): A => {
      const fault = responses.fault(id, answer.status, answer.body);
      if (fault) throw new ApiError('server_error', { reason: `the answer breaks the contract: ${fault}` });
      return answer;
    };
    const handle = handlers[id] as Handler<OperationId, WriteDeps>;
    const input = { path: context.path, query: req.query, body: req.body as unknown };
    const run = async (keep?: Keep<Work>): Promise<AnyAnswer> => {
      let checked: AnyAnswer | undefined;
      const beforeCommit: BeforeCommit = async (answer, unit) => {
        checked = check(answer);
        await keep?.(inText(answer), unit);
        return answer;
      };
      // Here and not before: a repeated answer does not count.
      await limitVelocity.cards(context, req.body);
      const answer: AnyAnswer = await handle(
        input as unknown as Input<OperationId>,
        depsOf(context, beforeCommit),
      );
      return answer === checked ? answer : check(answer);
    };
    const soundly = (keep: Keep<Work>) =>
      run(keep).then(inText, (error: unknown) => {
        // A refusal is kept, so it must be one that can be sent.
        if (error instanceof ApiError)
          check({ status: error.status, body: errorBody(error.code, error.facts) });
        throw error;
      });
    const keyed = await keyedBy((account) => keysOf(db, account), context, caller.keyPairId, req);
    const exchange = keyed && {
      kept: keptFor(db),
      keyed,
      res,
      beforeTelling: (isSame: boolean) => limitVelocity.numbers(context, req.body, isSame),
      keepsRefusal: async () => (await countCall(db, keptRefusals, caller.keyPairId)) === undefined,
    };
    if (exchange) send(res, await once(exchange, soundly));
    else {
      const { status, headers = {}, body } = await run();
      send(res, { status, headers, text: writeBody(body) });
    }
  };
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
