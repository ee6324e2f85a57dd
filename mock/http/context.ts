// The request context that the middleware steps fill in and pass on.
import type { Response } from 'express';
import type { Selection } from '../../server/handlers/deps.ts';
import type { PipelineStep } from '../../server/http/step.ts';
import type { Accounts } from '../../server/rules/accounts.ts';
import type { LoadedContract } from '../loaded-contract.ts';
import type { MockOperation } from '../operations.ts';

export interface MockContext {
  contract: LoadedContract;
  requestId: string;
  operation: MockOperation;
  /** The methods of the path: the `Allow` header of a 405 that was requested with Prefer. */
  allow: string;
  caller: { accounts: Accounts; scopes: readonly string[] };
  selection: Selection;
  /** Why the mock gave this response, for the request log. */
  why: string;
}

export type Step = PipelineStep<MockContext>;

export const contextOf = (res: Response): MockContext => res.locals as unknown as MockContext;
