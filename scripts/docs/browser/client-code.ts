/** Code for Node that calls `client`: the samples of the reference and of the console. */
export const clientCode = (
  baseUrl: string,
  code: string,
) => `// Install: \`npm run client\`, run in the folder of the
// payments service, prints the command.
// Save as sample.mts, run: npx tsx sample.mts
import { createPaymentsClient${code.includes('unwrap(') ? ', unwrap' : ''} } from 'payments-service-client';

const client = createPaymentsClient({
  baseUrl: '${baseUrl}',
  token: process.env.TOKEN ?? '',
});
${code}`;

/** Prints the answer to one call. */
export const printed = (call: string) => `console.log(unwrap(await client.${call}));`;
