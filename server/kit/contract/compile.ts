// Compiles the validators of a contract. For the generated contract, scripts/generate/ has done that for responses, which spares every
// start half a second; it has also called each of its operations. Any other contract, such as one that the mock reloads while somebody
// edits it, is compiled here.
import { createHash } from 'node:crypto';
import * as generated from '../../../generated/validators.js';
import { reasonOf } from '../faults.ts';
import { allFormats, compileAt, createAjv } from './ajv.ts';
import { ContractFault, type Contract, type Document } from './load.ts';
import { emptyResponses, responseSchemas, createResponseCheck, type ResponseCheck } from './responses.ts';
import { createValidator, type Validator } from './validator.ts';

export interface CompiledContract {
  document: Document;
  validator: Validator;
  responses: ResponseCheck;
}

export async function compileContract(contract: Contract): Promise<CompiledContract> {
  const responses = compileResponses(contract);
  const validator = createValidator(contract.document);
  const called = validator.callEveryOperation();
  // No start waits for the generated contract, whose operations `npm run generate` has called. If a call failed here, the requests
  // themselves would be answered with the same error.
  if (isGenerated(contract)) called.catch(() => undefined);
  else await called;
  return { document: contract.document, validator, responses };
}

/** For programs that send events and serve no requests. */
export const compileResponses = (contract: Contract): ResponseCheck =>
  createResponseCheck(
    compiledValidators(contract) ?? validatorsOf(contract),
    emptyResponses(contract.document),
  );

/** By the keys of responses.ts; undefined for any contract but the generated one. */
export const compiledValidators = (
  contract: Contract,
): Map<string, generated.ValidateFunction> | undefined =>
  isGenerated(contract) ? new Map(Object.entries(generated.validators(allFormats))) : undefined;

const isGenerated = ({ text }: Contract): boolean =>
  createHash('sha256').update(text).digest('hex') === generated.digest;

function validatorsOf({ document, file }: Contract): Map<string, generated.ValidateFunction> {
  const ajv = createAjv(document);
  const compile = ([key, pointer]: [string, string]) => {
    try {
      return [key, compileAt(ajv, pointer)] as const;
    } catch (error) {
      throw new ContractFault(
        `${file}#${pointer} cannot be used: ${reasonOf(error)}. Fix openapi/, then run: npm run generate`,
      );
    }
  };
  return new Map([...responseSchemas(document)].map(compile));
}
