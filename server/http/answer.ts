// Runs the handler and sends what it returns. The answer is held against the contract first, and a write is committed only
// after that: what would break the contract was never done.
import type { RequestHandler } from 'express';
import type { Handler, Handlers, Input, OperationId, Result } from '../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError } from '../errors.ts';
import { contextOf, type Context } from './context.ts';

export interface AnswerDeps<Deps> {
  handlers: Handlers<Deps>;
  check: ResponseCheck;
  /** Runs `work` with what a handler needs; for a write in a transaction that a throw rolls back. */
  withDeps: (
    context: Context,
    isWrite: boolean,
    work: (deps: Deps) => Promise<Result<OperationId>>,
  ) => Promise<Result<OperationId>>;
}

export const createAnswer =
  <Deps>({ handlers, check, withDeps }: AnswerDeps<Deps>): RequestHandler =>
  async (req, res) => {
    const context = contextOf(res);
    const { id, scopes } = context.operation;
    // By what the operation may do, not by its method: checking balances is a POST that writes nothing.
    const isWrite = scopes.some((scope) => scope.endsWith('.write'));
    const handle = handlers[id] as Handler<OperationId, Deps>;
    const { path } = context;
    const input = { path, query: req.query, body: req.body as unknown } as unknown as Input<OperationId>;
    const result = await withDeps(context, isWrite, async (deps) => {
      const made = await handle(input, deps);
      const fault = check.fault(id, made.status, made.body);
      if (fault) throw new ApiError(500, { reason: `the answer breaks the contract: ${fault}` });
      return made;
    });
    for (const [name, value] of Object.entries(result.headers ?? {})) res.setHeader(name, value);
    res.status(result.status).json(result.body);
  };
