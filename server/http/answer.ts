// Runs the handler and sends its answer. The answer is validated against the contract first; that of a write before its unit
// of work commits.
import type { RequestHandler } from 'express';
import type { Handler, Handlers, Input, OperationId } from '../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError } from '../errors.ts';
import { contextOf, type Context } from './context.ts';

/** No account has this ID: it is what the header says for all of them. */
export const severalAccounts = '*';

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
  /** Runs the handler; `owner` is who its database connections count for. */
  onBehalfOf: <T>(owner: string, work: () => T) => T;
}

export const createAnswer =
  <Deps>({ handlers, responses, depsOf, onBehalfOf }: AnswerDeps<Deps>): RequestHandler =>
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
    const answer = await onBehalfOf(ownerOf(context), (): Promise<Answer> =>
      handle(input as unknown as Input<OperationId>, depsOf(context, check)),
    );
    const { status, body, headers = {} } = check(answer);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.status(status).json(body);
  };

/** The merchant account. What is about several accounts or none has a share of its own, together. */
const ownerOf = ({ selection, caller: { merchantAccountIds: own } }: Context): string => {
  if (selection.kind === 'one') return selection.id;
  return selection.kind === 'all' && own.length === 1 && own[0] !== undefined ? own[0] : severalAccounts;
};
