// The bundled contract and everything the mock derives from it. Loading throws on a faulty contract, so the mock never
// serves one.
import { compileContract, type CompiledContract } from '../server/kit/contract/compile.ts';
import { loadContract, publish, type Document } from '../server/kit/contract/load.ts';
import { createRouter, type Router } from '../server/kit/http/route.ts';
import { mockOperations, type MockOperation } from './operations.ts';
import { createPrism, type Prism } from './prism.ts';

export interface LoadedContract extends CompiledContract {
  /** As others get it. */
  published: Document;
  operations: readonly MockOperation[];
  find: Router<MockOperation>;
  prism: Prism;
}

export async function loadMockContract(file: string): Promise<LoadedContract> {
  const contract = loadContract(file);
  const operations = mockOperations(contract.document);
  return {
    ...(await compileContract(contract)),
    published: publish(contract.document),
    operations,
    find: createRouter(operations),
    prism: await createPrism(contract.document),
  };
}
