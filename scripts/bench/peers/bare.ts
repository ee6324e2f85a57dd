// Nothing but node:http, a named statement and JSON.stringify: what an answer costs without any check.
import { createServer } from 'node:http';
import { listenOn, runPeer, type PeerConfig } from './peer.ts';
import { createListTransactions, openPool } from './transactions.ts';

runPeer(async (config: PeerConfig) => {
  const listTransactions = createListTransactions(openPool(config), config.contractFile);
  const server = createServer((req, res) => {
    const { searchParams } = new URL(req.url ?? '/', 'http://localhost');
    const [cursor, amount] = [searchParams.get('cursor'), searchParams.get('amount_gte')];
    listTransactions({
      limit: Number(searchParams.get('limit') ?? 20),
      ...(cursor === null ? {} : { cursor }),
      ...(amount === null ? {} : { amount_gte: Number(amount) }),
    }).then(
      (page) => {
        const body = JSON.stringify(page);
        res.writeHead(200, {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        });
        res.end(body);
      },
      () => res.writeHead(500).end(),
    );
  });
  return listenOn(server);
});
