import type { Handler, Result } from '../../generated/operations.ts';
import type { Deps } from './deps.ts';

// A stub: it answers with the contract's own example, marked by the header X-Contract-Example, until it is filled in.
export const checkGiftCardBalances: Handler<'checkGiftCardBalances', Deps> = (
  _input,
  deps,
): Promise<Result<'checkGiftCardBalances'>> => Promise.resolve(deps.example('checkGiftCardBalances'));
