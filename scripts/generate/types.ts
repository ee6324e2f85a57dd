import { createRequire } from 'node:module';
import type * as OpenapiTypescript from 'openapi-typescript';
import type { Contract } from './contract.ts';

export const banner = '// Written by `npm run generate` from openapi/. Do not edit.\n\n';

export const typesModule = async (contract: Contract): Promise<string> =>
  banner + (await typesText(contract));

export async function typesText(contract: Contract): Promise<string> {
  // Loaded here because it loads the compiler, which a faulty contract does not need. `import` would search the compiler's nine
  // megabytes for the names of its exports, which takes as long as to load it.
  const loaded = createRequire(import.meta.url)('openapi-typescript') as typeof OpenapiTypescript;
  const { default: openapiTypescript, astToString } = loaded;
  const ast = await openapiTypescript(structuredClone(contract) as unknown as OpenapiTypescript.OpenAPI3, {
    alphabetize: true,
    // A request may leave out a property that has a default. Handlers get it filled in: see `Input` in server/kit/contract/handler-types.ts.
    defaultNonNullable: false,
    silent: true,
  });
  return astToString(ast);
}
