// `node --import tsx --import ./scripts/make-validators.ts server/main.ts`: for debuggers, which run the TypeScript and no bundle.
import { makeValidators } from './generate/fresh-validators.ts';

await makeValidators();
