// The bundled contract and everything the mock derives from it. Loading throws on a faulty contract, so the mock never
// serves one.
import type { Request } from 'express';
import { loadContract, type Document } from '../server/contract/load.ts';
import { proveContract } from '../server/contract/prove.ts';
import { createRequestJudge, type RequestJudge } from '../server/contract/requests.ts';
import { createResponseCheck, type ResponseCheck } from '../server/contract/responses.ts';
import { createRouter, type Found } from '../server/http/route.ts';
import { mockOperations, type MockOperation } from './operations.ts';
import { createPrism, type Prism } from './prism.ts';

export interface LoadedContract {
  document: Document;
  operations: readonly MockOperation[];
  find: (req: Request) => Found<MockOperation>;
  requests: RequestJudge;
  responses: ResponseCheck;
  prism: Prism;
}

export async function loadMockContract(file: string): Promise<LoadedContract> {
  const contract = loadContract(file);
  const ajv = proveContract(contract);
  const { document } = contract;
  const operations = mockOperations(document);
  const table = Object.fromEntries(operations.map((operation) => [operation.id, operation]));
  return {
    document,
    operations,
    find: createRouter(operations),
    requests: await createRequestJudge(document, table),
    responses: createResponseCheck(document, ajv),
    prism: await createPrism(document),
  };
}
