// All that the service needs of the contract, proved and compiled: what takes the time of a start.
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
