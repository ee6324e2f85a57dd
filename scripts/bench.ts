// `npm run bench`: compares speeds within one run, because ratios are comparable between machines and seconds are not.
import { parseArgs } from 'node:util';
import { benchDeliveries } from './bench/deliveries.ts';
import { benchHostileClients } from './bench/hostile.ts';
import { benchJson } from './bench/json.ts';
import { benchRequests } from './bench/requests.ts';
import { startService } from './bench/service.ts';

const help = `Measure the service: requests per second, compared with a bare Express app that sends the same bytes, and the
latency of webhooks, with and without other receivers that hang, the latency of a good client beside hostile ones, and the
time to read a large body.

  npm run bench                   5 seconds per path
  npm run bench -- --seconds 20   20 seconds per path
  npm run bench -- --json         print the result as JSON`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

async function main(): Promise<void> {
  // First, while the machine has nothing else to do.
  const json = benchJson();
  if (!values.json) {
    console.log('Milliseconds to read 100 kB of JSON');
    console.table(json);
  }
  await using service = await startService();
  const requests = await benchRequests(service, Number(values.seconds));
  if (!values.json) {
    console.log('Requests per second, 16 concurrent callers');
    console.table(requests);
  }
  const hostile = await benchHostileClients(service, Number(values.seconds));
  if (!values.json) {
    console.log('Milliseconds for 20 transactions, one good client');
    console.table(hostile);
  }
  const deliveries = await benchDeliveries(service);
  if (values.json) console.log(JSON.stringify({ json, requests, hostile, deliveries }, null, 2));
  else {
    console.log('Webhooks: milliseconds from the response of the API call to the arrival of its event');
    console.table(deliveries);
  }
}

if (values.help) console.log(help);
else await main();
