// Nothing but node:http, named statements and JSON.stringify: what the answers cost without any check.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { copyNewest, insertRows } from './cards.ts';
import { config, listTransactions } from './peer.ts';

async function storeCard(): Promise<object> {
  const rows = await copyNewest();
  await insertRows(rows);
  return rows.card;
}

createServer((req, res) => {
  const { searchParams } = new URL(req.url ?? '/', 'http://localhost');
  const isPost = req.method === 'POST';
  const answer = isPost ? json(req).then(storeCard) : listTransactions(Number(searchParams.get('limit')));
  answer.then(
    (found) => {
      const body = JSON.stringify(found);
      const length = Buffer.byteLength(body);
      res.writeHead(isPost ? 201 : 200, { 'Content-Type': 'application/json', 'Content-Length': length });
      res.end(body);
    },
    () => res.writeHead(500).end(),
  );
}).listen(config.port, '127.0.0.1');
