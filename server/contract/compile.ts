// Verifies the contract and compiles its validators. The generated contract needs neither: `npm run generate` has verified it
// and compiled the validators of responses. Any other contract, such as one that is being edited, gets both here.
import { compileAt } from './ajv.ts';
import { compiledValidators } from './compiled.ts';
import type { Contract, Document } from './load.ts';
import { proveContract } from './prove.ts';
import { createRequestJudge, type RequestJudge } from './requests.ts';
import { emptyResponses, responseSchemas } from './response-schemas.ts';
import { createResponseCheck, type ResponseCheck } from './responses.ts';

export interface CompiledContract {
  document: Document;
  requests: RequestJudge;
  responses: ResponseCheck;
}

export async function compileContract(contract: Contract): Promise<CompiledContract> {
  const { document } = contract;
  const compiled = compiledValidators(contract);
  return {
    responses: createResponseCheck(compiled ?? validatorsOf(contract), emptyResponses(document)),
    requests: await createRequestJudge(document, {
      isVerified: compiled !== undefined,
      isQuick: true,
    }),
    document,
  };
}

/** For programs that send events and serve no requests. */
export const compileResponses = (contract: Contract): ResponseCheck =>
  createResponseCheck(
    compiledValidators(contract) ?? validatorsOf(contract),
    emptyResponses(contract.document),
  );

function validatorsOf(contract: Contract) {
  const ajv = proveContract(contract);
  return new Map(
    [...responseSchemas(contract.document)].map(([key, pointer]) => [key, compileAt(ajv, pointer)]),
  );
}
