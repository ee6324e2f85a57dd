// Validates the request against the contract. Handlers get what comes out, with defaults filled in.
import type { OperationId } from '../../../generated/operations.ts';
import type { Validator } from '../contract/validator.ts';
import type { Validated } from './known.ts';
import type { Passed, Step } from './pipeline.ts';

type Needed = Passed<'parsed'> & { operation: { id: OperationId } };

export const createValidate =
  <Known>(validatorOf: (known: Known) => Validator): Step<Known & Needed, Validated> =>
  async (known, req, res) => {
    const path = await validatorOf(known).validate(known.operation.id, req, res);
    return { input: { path, query: req.query, body: req.body as unknown } };
  };
