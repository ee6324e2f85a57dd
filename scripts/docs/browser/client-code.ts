/** A call with our client, to run with Node: the samples of the reference and of the console. */
export const clientCode = (
  baseUrl: string,
  call: string,
) => `// Install: \`npm run client\` prints the command.
import { createPaymentsClient, unwrap } from 'payments-service-client';

const client = createPaymentsClient({
  baseUrl: '${baseUrl}',
  token: process.env.TOKEN ?? '',
});
console.log(unwrap(await client.${call}));`;
