import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { Contract } from './contract.ts';

const banner = '// Written by `npm run generate` from openapi/. Do not edit.\n\n';

export async function typesModule(contract: Contract): Promise<string> {
  const ast = await openapiTypescript(structuredClone(contract) as unknown as OpenAPI3, {
    alphabetize: true,
    // A property with a default may be left out of a request; what handlers receive is said in operations.ts.
    defaultNonNullable: false,
    silent: true,
  });
  return banner + astToString(ast);
}
