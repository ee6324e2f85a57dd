import type { OpenAPI3 } from 'openapi-typescript';
import type { Contract } from './contract.ts';

const banner = '// Written by `npm run generate` from openapi/. Do not edit.\n\n';

export async function typesModule(contract: Contract): Promise<string> {
  // Imported here because it loads the compiler, which a faulty contract does not need.
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  const ast = await openapiTypescript(structuredClone(contract) as unknown as OpenAPI3, {
    alphabetize: true,
    // A request may leave out a property that has a default. Handlers get it filled in: see `Input` in operations.ts.
    defaultNonNullable: false,
    silent: true,
  });
  return banner + astToString(ast);
}
