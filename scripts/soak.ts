// `npm run test:nightly -- soak`: mixed good, bad and hostile load for minutes to hours, with restarts of server and database, and then the
// invariants. Everything happens on loopback.
import { startLoad } from './soak/load.ts';
import { startReceivers } from './soak/receivers.ts';
import { readOptions } from './support/options.ts';
import { ask, createSandbox, reportHeap } from './support/sandbox.ts';

const help = `Run the service under mixed load, kill it and its database again and again, and check the data at the end.

  npm run test:nightly -- soak                 five minutes
  npm run test:nightly -- soak --minutes 60    longer

Exits with 1 when an invariant does not hold.`;

const { minutes } = readOptions({ minutes: { type: 'string', default: '5' } }, help);

interface Claim {
  claim: string;
  holds: boolean;
  facts: string;
}

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000));

async function main(minutes: number): Promise<Claim[]> {
  await using service = await createSandbox(reportHeap);
  await service.start();
  const receivers = await startReceivers();
  try {
    const token = service.payments('token', '--scopes', '*.read,*.write', '--ttl', '86400').stdout.trim();
    for (const url of receivers.urls)
      await ask({ url: service.url, token }, '/webhook-subscriptions', { url });
    const load = startLoad(service.url, token);
    const end = Date.now() + minutes * 60_000;
    let restarts = 0;
    let readyWithoutDatabase = 200;
    // The last third runs without a restart, so that the heap can be compared with itself.
    for (const calm = end - minutes * 20_000; Date.now() < calm; restarts += 1) {
      await seconds(10 + 10 * Math.random());
      const victim = restarts === 0 ? 'the database' : restarts % 2 === 1 ? 'both' : 'the server';
      console.log(`${load.acknowledged.size} cards stored; killing ${victim}`);
      if (victim !== 'the server') service.killDatabase();
      if (victim === 'the database') {
        readyWithoutDatabase = (await fetch(`${service.url}/readyz`)).status;
        await service.stop();
      } else await service.killServer();
      await service.start();
    }
    console.log('Comparing the heap with itself');
    const heaps: number[] = [];
    await seconds(20);
    while (heaps.length < 2 || Date.now() < end) {
      heaps.push(await service.heap());
      await seconds(5);
    }
    await load.stop();
    console.log('The load has stopped; waiting for the deliveries');
    const ids = [...load.acknowledged.values()];
    const missing = () => receivers.heard.flatMap((told) => ids.filter((id) => !told.has(id)));
    for (let waited = 0; missing().length > 0 && waited < 300; waited += 1) await seconds(1);
    // Before a look for lost ones, which stores them again.
    const untold = missing().length;
    return claims(await load.findLost());

    function claims(lost: string[]): Claim[] {
      const doctor = service.payments('doctor', '--json');
      const findings = JSON.parse(doctor.stdout) as { items: { check: string; broken: number }[] };
      const wrong = findings.items.filter(({ broken }) => broken > 0);
      const doubled = receivers.heard.flatMap((told) =>
        [...told.values()].filter((events) => events.size > 1),
      );
      const [first = 0, last = 0] = [heaps[0], heaps.at(-1)];
      return [
        {
          claim: 'Good callers were only answered as the contract says',
          holds: load.faults.length === 0,
          facts: `${JSON.stringify(load.answers)} ${load.faults.slice(0, 3).join('; ')}`,
        },
        {
          claim: 'Without its database the service is not ready',
          holds: readyWithoutDatabase === 503,
          facts: `/readyz was ${readyWithoutDatabase}`,
        },
        {
          claim: 'Every acknowledged card is stored',
          holds: load.acknowledged.size > 0 && lost.length === 0,
          facts: `${load.acknowledged.size} acknowledged, ${lost.length} lost, ${restarts} restarts`,
        },
        {
          claim: 'Every card was announced to both good receivers, as one event',
          holds: untold === 0 && doubled.length === 0,
          facts: `${untold} missing, ${doubled.length} announced twice`,
        },
        {
          claim: 'payments doctor finds nothing',
          holds: doctor.status === 0,
          facts:
            wrong.map(({ check, broken }) => `${check}: ${broken}`).join('; ') ||
            `${findings.items.length} checks`,
        },
        {
          claim: 'The heap is flat',
          holds: last < first * 1.25 + 10,
          facts: `${heaps.map((size) => size.toFixed(0)).join(', ')} MB after collections`,
        },
      ];
    }
  } finally {
    receivers.close();
  }
}

const found = await main(Number(minutes));
for (const { claim, holds, facts } of found) console.log(`${holds ? '✓' : '✗'} ${claim} (${facts})`);
process.exitCode = found.every(({ holds }) => holds) ? 0 : 1;
