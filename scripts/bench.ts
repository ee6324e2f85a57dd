// `npm run bench`: speed side by side, in one run on one machine. Ratios travel between machines, seconds do not.
import { parseArgs } from 'node:util';
import { benchDeliveries } from './bench/deliveries.ts';
import { benchRequests } from './bench/requests.ts';
import { startService } from './bench/service.ts';

const help = `Measure the service: its requests a second beside a bare Express that sends the same bytes, and how long webhooks
take, alone and beside receivers that hang.

  npm run bench                   5 seconds for each path
  npm run bench -- --seconds 20   longer
  npm run bench -- --json         for programs`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

async function main(): Promise<void> {
  await using service = await startService();
  const requests = await benchRequests(service, Number(values.seconds));
  if (!values.json) {
    console.log('Requests a second, 16 callers at once');
    console.table(requests);
  }
  const deliveries = await benchDeliveries(service);
  if (values.json) console.log(JSON.stringify({ requests, deliveries }, null, 2));
  else {
    console.log('Webhooks: milliseconds from the acknowledged cause to its arrival');
    console.table(deliveries);
  }
}

if (values.help) console.log(help);
else await main();
