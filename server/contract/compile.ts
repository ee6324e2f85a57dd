// Verifies the contract and compiles its validators. Most of the start-up time is spent here.
import type { Contract, Document } from './load.ts';
import { proveContract } from './prove.ts';
import { createRequestJudge, type RequestJudge } from './requests.ts';
import { createResponseCheck, type ResponseCheck } from './responses.ts';

export interface CompiledContract {
  document: Document;
  requests: RequestJudge;
  responses: ResponseCheck;
}

export async function compileContract(contract: Contract): Promise<CompiledContract> {
  const { document } = contract;
  const ajv = proveContract(contract);
  return {
    document,
    requests: await createRequestJudge(document),
    responses: createResponseCheck(document, ajv),
  };
}
