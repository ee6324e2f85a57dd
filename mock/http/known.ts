// What the mock knows of a request besides what the service does, and what is left of it for the request log.
import type { Response } from 'express';
import type { Found } from '../../server/kit/http/route.ts';
import type { Accounts } from '../../server/kit/rules/accounts.ts';
import type { LoadedContract } from '../loaded-contract.ts';
import type { MockOperation } from '../operations.ts';

/** From its start, even if the contract is reloaded meanwhile. */
export interface Loaded {
  contract: LoadedContract;
}

export type Routed = Found<MockOperation>;

export interface Authenticated {
  caller: {
    accounts: Accounts;
    scopes: readonly string[];
    /** It has any text as its token, and not a JWT. */
    isAnonymous: boolean;
  };
}

/** Any step may have refused the request, so everything may be missing. */
export interface Trail extends Partial<Routed> {
  requestId?: string;
  /** Why the mock gave this response. */
  why?: string;
}

export const trailOf = (res: Response): Trail => res.locals;
