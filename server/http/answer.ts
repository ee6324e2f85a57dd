// Runs the handler and sends its answer. The answer is validated against the contract first; that of a write before its unit
// of work commits.
import type { RequestHandler } from 'express';
import type { Handler, Handlers, Input, OperationId } from '../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError } from '../errors.ts';
import { contextOf, type Context } from './context.ts';
import type { FairShare } from './fair-share.ts';

interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Returns the answer, or throws if it breaks the contract. */
export type CheckAnswer = <A extends Answer>(answer: A) => A;

export interface AnswerDeps<Deps> {
  handlers: Handlers<Deps>;
  responses: ResponseCheck;
  /** What the handler of this request receives. */
  depsOf: (context: Context, check: CheckAnswer) => Deps;
  share: FairShare;
}

export const createAnswer =
  <Deps>({ handlers, responses, depsOf, share }: AnswerDeps<Deps>): RequestHandler =>
  async (req, res) => {
    const context = contextOf(res);
    const { id } = context.operation;
    const checked = new WeakSet<Answer>();
    const check: CheckAnswer = (answer) => {
      const fault = checked.has(answer) ? undefined : responses.fault(id, answer.status, answer.body);
      if (fault) throw new ApiError('server_error', { reason: `the answer breaks the contract: ${fault}` });
      checked.add(answer);
      return answer;
    };
    const handle = handlers[id] as Handler<OperationId, Deps>;
    const input = { path: context.path, query: req.query, body: req.body as unknown };
    const answer = await share(shareOf(context), (): Promise<Answer> =>
      handle(input as unknown as Input<OperationId>, depsOf(context, check)),
    );
    const { status, body, headers = {} } = check(answer);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.status(status).json(body);
  };

/** One merchant account, or for what is about several the key pair. */
const shareOf = ({ selection, caller }: Context): string =>
  selection.kind === 'one' ? `account ${selection.id}` : `pair ${caller.keyPairId}`;
