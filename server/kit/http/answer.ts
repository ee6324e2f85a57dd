// Runs the handler and sends its answer. Before that, the answer is held against the contract, and with an Idempotency-Key it is kept
// for a repeated request. That of a write is checked and kept before its unit of work commits: the change and its answer are stored
// together, or neither is.
import type { Response } from 'express';
import type { OperationId } from '../../../generated/operations.ts';
import type { AnyAnswer, Handlers } from '../contract/handler-types.ts';
import { writeBody, type ResponseCheck } from '../contract/responses.ts';
import type { Db, Owner } from '../database/database.ts';
import type { RecordCall } from '../database/rate-limits.ts';
import type { InUnitOfWork, UnitOfWork, Work } from '../database/unit-of-work.ts';
import { ApiError, errorBody } from '../errors.ts';
import { claimOf, createOnce, refusalLimit } from '../idempotency/once.ts';
import type { KeptAnswers, SentAnswer } from '../idempotency/rules.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import { repeatedRefusal } from './access-log.ts';
import {
  trailOf,
  type Arrived,
  type Authenticated,
  type Owned,
  type Routed,
  type Selected,
  type Trail,
  type Validated,
} from './known.ts';
import type { OwnChecks } from './limits.ts';
import { check } from './pipeline.ts';

export type Known = Arrived & Routed & Authenticated & Selected & Owned & Validated;

/** What the handler of an operation that writes has in addition. */
export interface Writes {
  /** Commits an answer that is valid, and sends it. A handler returns it unchanged: the lint refuses `await`. */
  inUnitOfWork: <Answer extends AnyAnswer>(work: (unit: UnitOfWork) => Promise<Answer>) => Promise<Answer>;
}

interface AnswerDeps<Deps extends object> {
  handlers: Handlers<Deps & Writes>;
  responses: ResponseCheck;
  depsOf: (known: Known, trail: Trail) => Deps;
  unitsOn: (db: Db) => InUnitOfWork;
  ownChecks: OwnChecks;
  keysOf: (db: Db, account: string | null) => Promise<DigestKeys>;
  keptAnswersOn: (db: Db, owner: Owner) => KeptAnswers<Work>;
  recordCall: RecordCall;
}

/** Called with the answer, and with the transaction that is about to commit. Without one if the handler used no unit of work. */
type Hook = (answer: AnyAnswer, unit?: Work) => Promise<void> | void;

export function createAnswer<Deps extends object>(deps: AnswerDeps<Deps>) {
  const { keysOf, keptAnswersOn, ownChecks, recordCall } = deps;
  const once = createOnce<Work>();
  return check('answered', async (known: Known, req, res) => {
    const { db, owner, caller, operation } = known;
    const { checkAnswer, checkRefusal } = checksOf(deps, operation.id);
    const handle = (beforeCommit: readonly Hook[]) => runHandler(deps, known, trailOf(res), beforeCommit);
    const claim = operation.takesKey
      ? await claimOf((account) => keysOf(db, account), known, caller.keyPairId, req)
      : undefined;
    if (!claim) {
      send(res, written(await handle([checkAnswer])));
      return;
    }
    const answer = await once({
      kept: keptAnswersOn(db, owner),
      claim,
      res,
      beforeTelling: (isRepeated) => ownChecks.beforeKnownKey(known, isRepeated),
      keepsRefusal: async () => (await recordCall(known, refusalLimit, caller.keyPairId)) === undefined,
      work: async (keepText) => {
        const keepAnswer: Hook = (answer, unit) => keepText(inText(answer), unit);
        return inText(await handle([checkAnswer, keepAnswer]).catch(checkRefusal));
      },
    });
    if (answer.status >= 400) trailOf(res).refusal = repeatedRefusal(answer.text);
    send(res, answer);
  });
}

/** Both throw a 500 if the answer breaks the contract. */
function checksOf({ responses }: { responses: ResponseCheck }, id: OperationId) {
  const checkAnswer = ({ status, body }: AnyAnswer): void => {
    const fault = responses.fault(id, status, body);
    if (fault) throw new ApiError('server_error', { reason: `the answer breaks the contract: ${fault}` });
  };
  /** A refusal that is kept must be one that can be sent. */
  const checkRefusal = (error: unknown): never => {
    if (error instanceof ApiError)
      checkAnswer({ status: error.status, body: errorBody(error.code, error.facts) });
    throw error;
  };
  return { checkAnswer, checkRefusal };
}

async function runHandler<Deps extends object>(
  { handlers, unitsOn, depsOf, ownChecks }: AnswerDeps<Deps>,
  known: Known,
  trail: Trail,
  beforeCommit: readonly Hook[],
): Promise<AnyAnswer> {
  await ownChecks.beforeHandler(known);
  let committed: AnyAnswer | undefined;
  const inUnitOfWork: Writes['inUnitOfWork'] = async (work) => {
    const answer = await unitsOn(known.db)(work, { beforeCommit });
    committed = answer;
    return answer;
  };
  // The input was validated for this operation.
  const handle: (input: never, deps: Deps & Writes) => Promise<AnyAnswer> = handlers[known.operation.id];
  const answer = await handle(known.input as never, { ...depsOf(known, trail), inUnitOfWork });
  // The hooks have run. What was committed is sent, whatever the handler made of it afterwards.
  if (committed) return committed;
  for (const hook of beforeCommit) await hook(answer);
  return answer;
}

const written = ({ status, headers = {}, body }: AnyAnswer) => ({ status, headers, text: writeBody(body) });

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
