import type { Handler, Result } from '../../generated/operations.ts';
import type { Deps } from './deps.ts';

// A stub: it answers with the contract's own example, marked by the header X-Contract-Example, until it is filled in.
export const listCardSchemeDefinitions: Handler<'listCardSchemeDefinitions', Deps> = (
  _input,
  deps,
): Promise<Result<'listCardSchemeDefinitions'>> => Promise.resolve(deps.example('listCardSchemeDefinitions'));
